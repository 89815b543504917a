"""`fidal run` and `fidal resume`: one run, in this process."""

import json
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from fidal.cli.options import Cache, Config, Json, Out, Settings, experiments_of
from fidal.cli.progress import listening
from fidal.cli.summary import last_rows, print_summary
from fidal.experiment.config import ConfigError
from fidal.experiment.folder import RunFolder
from fidal.experiment.run import Run


def run(
    config: Config,
    settings: Settings = None,
    out: Out = Path("runs"),
    cache: Cache = Path("cache"),
    as_json: Json = False,
) -> None:
    """Run one experiment, or go on with it where it was cut."""
    experiments = experiments_of(config, settings)
    if len(experiments) > 1:
        raise ConfigError(
            f"{config} lists {len(experiments)} runs in [sweep]: `fidal sweep` runs them all, "
            "--set chooses one, e.g. --set strategy=fidal --set seed=0"
        )
    (experiment,) = experiments
    _go(Run(experiment, RunFolder(out / experiment.run_name)), cache, as_json)


def resume(
    folder: Annotated[Path, typer.Argument(help="a run's folder")],
    cache: Cache = Path("cache"),
    as_json: Json = False,
) -> None:
    """Go on with a run that was cut. It ends as if it had not been."""
    _go(Run(RunFolder(folder).experiment(), RunFolder(folder)), cache, as_json)


def _go(run: Run, cache: Path, as_json: bool) -> None:
    console = Console(stderr=as_json)
    with listening(console, run.experiment, quiet=as_json) as told:
        run.go(cache, told)
    if as_json:
        print(json.dumps(last_rows([run.folder])))
    else:
        print_summary(console, [run.folder])
