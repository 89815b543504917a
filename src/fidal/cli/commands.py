"""The commands; each reads what was asked for, calls one function, and prints what came back."""

import json
from pathlib import Path
from typing import Annotated, Literal

import typer
from rich.console import Console

from fidal.cli.demo import demo, report
from fidal.cli.federation import federation
from fidal.cli.listing import describe_table, list_table
from fidal.cli.progress import listening
from fidal.cli.site import site
from fidal.cli.summary import print_summary
from fidal.experiment.config import ConfigError, Experiment, read_table, with_settings
from fidal.experiment.folder import RunFolder
from fidal.experiment.run import Run
from fidal.experiment.sweep import expand, run_all

app = typer.Typer(
    help="Open-set federated active learning for medical images.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
)

app.command()(demo)
app.command()(report)
app.add_typer(federation, name="federation")
app.add_typer(site, name="site")

Config = Annotated[Path, typer.Argument(help="a TOML file, see experiments/")]
Settings = Annotated[
    list[str] | None, typer.Option("--set", help="key=value over the file, e.g. strategy.gate=none")
]
Out = Annotated[Path, typer.Option(help="folder that gets one folder per run")]
Cache = Annotated[Path, typer.Option(help="decoded images and embeddings, shared by all runs")]
Json = Annotated[bool, typer.Option("--json", help="for machines: JSON on stdout, nothing else")]


@app.command()
def run(
    config: Config,
    settings: Settings = None,
    out: Out = Path("runs"),
    cache: Cache = Path("cache"),
    as_json: Json = False,
) -> None:
    """Run one experiment, or go on with it where it was cut."""
    experiments = expand(with_settings(read_table(config), settings or []))
    if len(experiments) > 1:
        raise ConfigError(
            f"{config} lists {len(experiments)} runs in [sweep]: `fidal sweep` runs them all, "
            "--set chooses one, e.g. --set strategy=fidal --set seed=0"
        )
    _run_and_print(experiments, out, cache, as_json)


@app.command()
def sweep(
    config: Config,
    settings: Settings = None,
    out: Out = Path("runs"),
    cache: Cache = Path("cache"),
    as_json: Json = False,
) -> None:
    """Run every combination of the file's [sweep] table; finished runs are not run again."""
    experiments = expand(with_settings(read_table(config), settings or []))
    _run_and_print(experiments, out, cache, as_json)


@app.command()
def resume(
    folder: Annotated[Path, typer.Argument(help="a run's folder")],
    cache: Cache = Path("cache"),
    as_json: Json = False,
) -> None:
    """Go on with a run that was cut. It ends as if it had not been."""
    experiment = RunFolder(folder).experiment()
    console = Console(stderr=as_json)
    with listening(console, 1, quiet=as_json) as listener:
        Run(experiment, RunFolder(folder)).go(cache, listener(experiment))
    print_summary(console, [RunFolder(folder)], as_json)


@app.command("list")
def list_(
    what: Annotated[
        Literal["strategies", "benchmarks", "encoders", "gates"], typer.Argument(help="which")
    ],
    as_json: Json = False,
) -> None:
    """What there is to choose from."""
    list_table(Console(), what, as_json)


@app.command()
def describe(config: Config, settings: Settings = None, as_json: Json = False) -> None:
    """The configuration with every default filled in, and what each field means; of a sweep, its
    first run's."""
    experiments = expand(with_settings(read_table(config), settings or []))
    if as_json:
        typer.echo(experiments[0].model_dump_json(indent=1))
        return
    console = Console()
    if len(experiments) > 1:
        console.out(f"the first of the {len(experiments)} runs in [sweep]:", highlight=False)
    describe_table(console, experiments[0])


def _run_and_print(experiments: list[Experiment], out: Path, cache: Path, as_json: bool) -> None:
    console = Console(stderr=as_json)
    with listening(console, len(experiments), quiet=as_json) as listener:
        outcomes = run_all(experiments, out, cache, listener)
    print_summary(console, [o.run.folder for o in outcomes if o.error is None], as_json)
    failed = {o.run.experiment.run_name: o.error for o in outcomes if o.error is not None}
    for name, error in failed.items():
        line = json.dumps({"run": name, "error": error}) if as_json else f"fidal: {name}: {error}"
        typer.echo(line, err=True)
    if failed:
        raise typer.Exit(2)
