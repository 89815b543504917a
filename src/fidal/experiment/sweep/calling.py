"""How a sweep is called: what does not belong to its experiments, and so not into the file."""

import re
from dataclasses import dataclass
from typing import Annotated

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError

from fidal.experiment.config import ConfigError
from fidal.parts import explain


@dataclass(frozen=True)
class Shard:
    """The `number`-th of `of` parts."""

    number: int
    of: int


def _parsed(text: object) -> object:
    if not isinstance(text, str):
        return text
    found = re.fullmatch(r"(\d+)/(\d+)", text.strip())
    if found is None:
        raise ValueError(f"{text!r} is no part; write i/n: 1/2 on one machine, 2/2 on another")
    shard = Shard(int(found[1]), int(found[2]))
    if not 1 <= shard.number <= shard.of:
        raise ValueError(f"there is no part {text}; i of i/n is one of 1, ..., n")
    return shard


class Calling(BaseModel):
    """The options of `fidal sweep`."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    jobs: int = Field(
        default=1,
        ge=1,
        description="processes at a time; each has its share of the cores (or OMP_NUM_THREADS "
        "threads) and one of the GPUs",
    )
    shard: Annotated[Shard | None, BeforeValidator(_parsed)] = Field(
        default=None,
        description="i/n: only the i-th of n parts, so that n machines can share a sweep",
    )
    retry: bool = Field(default=False, description="run again what failed before")


def calling(jobs: int, shard: str | None, retry: bool) -> Calling:
    """From the command line; what can't be is one `ConfigError`."""
    try:
        return Calling.model_validate({"jobs": jobs, "shard": shard, "retry": retry})
    except ValidationError as error:
        what = explain(error, Calling).replace("\n", "\n--")
        raise ConfigError(f"--{what}") from error
