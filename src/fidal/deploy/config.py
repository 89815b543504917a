"""The two files of a deployment: `site.toml` at a clinic, `coordinator.toml` at the coordinator.

Both name the same experiment file, which is the same at all ends, to the byte: its digest goes with
every message. Paths are taken from the folder of the file that they stand in.
"""

import re
from pathlib import Path
from typing import Annotated, ClassVar, Final, Literal, Self, TypeVar

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    SerializeAsAny,
    ValidationError,
    model_validator,
)

from fidal.data import BENCHMARKS
from fidal.data.benchmark import Source
from fidal.data.remote import Remote
from fidal.experiment.config import ConfigError, Experiment, make_experiment, read_table
from fidal.federation.codec import NAME
from fidal.federation.state import Patience
from fidal.parts import Part, by_name, explain
from fidal.site.policy import Policy

NODE_NAME: Final = re.compile(r"[a-z0-9](?:[a-z0-9_-]{0,62})")


def _node_name(name: str) -> str:
    if NODE_NAME.fullmatch(name) is None:
        raise ValueError(f"{name!r}: a site's name has small letters, digits, - and _, at most 63")
    return name


SiteName = Annotated[str, AfterValidator(_node_name)]


class Privacy(Part):
    """Differential privacy of the averaged weights, by Flower's wrapper: see docs/deploy.md."""

    name: ClassVar[str] = "privacy"
    noise: float = Field(gt=0, description="noise multiplier: standard deviation over clip")
    clip: float = Field(gt=0, description="a site's update is scaled down to this length")
    delta: float = Field(gt=0, lt=1, description="for which epsilon is told in the rows")
    most: float | None = Field(default=None, gt=0, description="epsilon at which the run ends")


class _File(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")

    folder: Path = Field(exclude=True, description="where the file lies; not written in it")
    experiment: Path = Field(default=Path("experiment.toml"), description="the shared experiment")

    def path(self, name: str | Path) -> Path:
        """A path that is written in the file, or a file beside it."""
        return self.folder / name

    def read_experiment(self) -> Experiment:
        """The shared experiment, as it may be between machines."""
        path = self.path(self.experiment)
        experiment = make_experiment(read_table(path))
        if not isinstance(experiment.benchmark, Remote):
            raise ConfigError(
                f"{path}: benchmark is '{experiment.benchmark.name}'; between machines it is "
                "'remote', with classes and shape, and each site.toml says where its images are"
            )
        if NAME.fullmatch(experiment.run_name) is None:
            raise ConfigError(f"{path}: name has letters, digits, spaces and _ + - . only")
        return experiment


class SiteFile(_File):
    """A clinic."""

    name: SiteName = Field(description="as the coordinator knows it")
    coordinator: str = Field(description="host:port that the coordinator is reached at")
    data: Annotated[SerializeAsAny[Source], BeforeValidator(by_name("data", BENCHMARKS))] = Field(
        description="where the site's images are: a benchmark of which it takes its own part"
    )
    answers: Literal["people", "labels"] = Field(
        default="people", description="who answers: people at the desk, or the data's labels"
    )
    policy: Policy = Field(default=Policy(), description="what the site does and tells")
    desk_port: int = Field(
        default=8470, ge=0, le=65535, description="of the experts' desk on 127.0.0.1; 0: any free"
    )
    runtime_port: int = Field(
        default=9094, ge=1, le=65535, description="that Flower's SuperNode uses on 127.0.0.1"
    )
    socket: Path = Field(default=Path("site.sock"), description="of the site's process")
    cache: Path = Field(default=Path("cache"), description="decoded images and embeddings")


class CoordinatorFile(_File):
    """The coordinator."""

    sites: tuple[SiteName, ...] = Field(min_length=1, description="who takes part")
    port: int = Field(
        default=8000, ge=1, le=65535, description="of Flower's SuperLink on 127.0.0.1"
    )
    names: tuple[str, ...] = Field(
        default=(), description="host names and addresses that sites reach the SuperLink by"
    )
    request_minutes: float = Field(
        default=720, gt=0, description="that a site may take for a request before it is left out"
    )
    answer_hours: float = Field(
        default=72, ge=0, description="that people have for a round's worklist"
    )
    poll_seconds: float = Field(
        default=60, gt=0, description="between two questions how far people are"
    )
    quorum: int = Field(default=2, ge=1, description="the fewest sites that a round goes on with")
    privacy: Privacy | None = Field(default=None, description="differential privacy, if any")

    @model_validator(mode="after")
    def _fits(self) -> Self:
        if len(set(self.sites)) != len(self.sites):
            raise ValueError("sites: a name stands there twice")
        if self.quorum > len(self.sites):
            raise ValueError(f"quorum: {self.quorum} of {len(self.sites)} sites can't be there")
        return self

    @property
    def patience(self) -> Patience:
        """For the coordinator."""
        return Patience(
            request=self.request_minutes * 60,
            answers=self.answer_hours * 3600,
            poll=self.poll_seconds,
            quorum=self.quorum,
        )


F = TypeVar("F", SiteFile, CoordinatorFile)


def read_file(path: Path, kind: type[F]) -> F:
    """`site.toml` or `coordinator.toml`; errors name the file and the field."""
    table = read_table(path)
    if "folder" in table:
        raise ConfigError(f"{path}: folder: unknown key; the file's own folder is meant everywhere")
    try:
        return kind.model_validate({**table, "folder": path.absolute().parent})
    except ValidationError as error:
        raise ConfigError(f"{path}: {explain(error, kind)}") from error
