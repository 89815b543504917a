"""Files of prompts: what may be seen in an image of a benchmark, in words.

A file has `in_distribution`, what describes a class, and `out_of_distribution`, what describes
something else; each entry is put into `template` at `{}`. Those of the paper's three benchmarks lie
in this folder under their names.
"""

import tomllib
from importlib.resources import files
from pathlib import Path
from typing import Final

from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator

from fidal.data.benchmark import DataAbsent
from fidal.parts import explain, nearest

SHIPPED: Final = ("fedisic", "fedcamelyon", "fedembed")


class Sentences(BaseModel):
    """The content of a file."""

    model_config = ConfigDict(frozen=True, extra="forbid")
    template: str = "{}"
    in_distribution: tuple[str, ...] = Field(min_length=1)
    out_of_distribution: tuple[str, ...] = Field(min_length=1)

    @field_validator("template")
    @classmethod
    def _has_a_place(cls, template: str) -> str:
        if template.count("{}") != 1:
            raise ValueError(f"'{template}' must have one {{}}, where the entries are put")
        return template

    @property
    def texts(self) -> list[str]:
        """All sentences, those of classes first."""
        entries = (*self.in_distribution, *self.out_of_distribution)
        return [self.template.replace("{}", entry) for entry in entries]

    @property
    def of_classes(self) -> tuple[bool, ...]:
        """For each sentence, does it describe a class?"""
        n_id, n_ood = len(self.in_distribution), len(self.out_of_distribution)
        return (True,) * n_id + (False,) * n_ood


def read_sentences(which: str) -> Sentences:
    """Those of a benchmark of the paper, by its name, or of a TOML file, by its path."""
    text = _text(which)
    try:
        return Sentences.model_validate(tomllib.loads(text))
    except ValidationError as error:
        raise ValueError(f"prompts {which}: {explain(error, Sentences)}") from None
    except ValueError as error:
        raise ValueError(f"prompts {which} is not TOML: {error}") from None


def _text(which: str) -> str:
    if which in SHIPPED:
        return files("fidal.data.sentences").joinpath(f"{which}.toml").read_text("utf-8")
    path = Path(which)
    if path.suffix != ".toml":
        raise DataAbsent(f"prompts '{which}' are not shipped; {nearest(which, list(SHIPPED))}")
    if not path.is_file():
        raise DataAbsent(f"no file of prompts at {path.absolute()}; shipped: {', '.join(SHIPPED)}")
    return path.read_text("utf-8")
