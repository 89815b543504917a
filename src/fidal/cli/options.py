"""Arguments that several commands have in common, and help texts from the fields they set."""

from pathlib import Path
from typing import Annotated

import typer
from pydantic import BaseModel

from fidal.experiment.config import Experiment, read_table, with_settings
from fidal.experiment.sweep import expand

Config = Annotated[Path, typer.Argument(help="a TOML file, see experiments/")]
Settings = Annotated[
    list[str] | None, typer.Option("--set", help="key=value over the file, e.g. strategy.gate=none")
]
Out = Annotated[Path, typer.Option(help="folder that gets one folder per run")]
Cache = Annotated[Path, typer.Option(help="decoded images and embeddings, shared by all runs")]
Json = Annotated[bool, typer.Option("--json", help="for machines: JSON on stdout, nothing else")]


def experiments_of(config: Path, settings: list[str] | None) -> list[Experiment]:
    """All that the file and what is set over it stand for."""
    return expand(with_settings(read_table(config), settings or []))


def meaning(model: type[BaseModel], field: str) -> str:
    """The field's own description, which is the option's help."""
    return model.model_fields[field].description or ""
