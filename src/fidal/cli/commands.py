"""The commands; each reads what was asked for, calls one function, and prints what came back."""

from typing import Annotated, Literal

import typer
from rich.console import Console

from fidal.cli import convert, data
from fidal.cli.demo import demo, report
from fidal.cli.embed import embed
from fidal.cli.listing import describe_table, list_table
from fidal.cli.options import Config, Json, Settings, experiments_of
from fidal.cli.pilot import pilot
from fidal.cli.single import resume, run
from fidal.cli.sweep import sweep

app = typer.Typer(
    help="Open-set federated active learning for medical images.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
)

app.command()(demo)
app.command()(run)
app.command()(resume)
app.command()(sweep)
app.command()(pilot)
app.command()(report)
app.command()(embed)
app.add_typer(convert.app, name="encoders")
app.add_typer(data.app, name="data")


@app.command("list")
def list_(
    what: Annotated[
        Literal["strategies", "benchmarks", "preparations", "encoders", "gates"],
        typer.Argument(help="which; a preparation's fields are for `fidal data prepare --set`"),
    ],
    as_json: Json = False,
) -> None:
    """What there is to choose from."""
    list_table(Console(), what, as_json)


@app.command()
def describe(config: Config, settings: Settings = None, as_json: Json = False) -> None:
    """The configuration with every default filled in, and what each field means; of a sweep, its
    first run's."""
    experiments = experiments_of(config, settings)
    if as_json:
        typer.echo(experiments[0].model_dump_json(indent=1))
        return
    console = Console()
    if len(experiments) > 1:
        console.out(f"the first of the {len(experiments)} runs in [sweep]:", highlight=False)
    describe_table(console, experiments[0])
