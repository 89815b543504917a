"""`fidal federation`: the coordinator of a federation between machines."""

import logging
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Annotated

import typer
from rich.console import Console

from fidal.cli.extras import needing
from fidal.cli.summary import print_summary
from fidal.cli.table import print_table
from fidal.deploy.config import CoordinatorFile, read_file
from fidal.deploy.files import CoordinatorPlaces
from fidal.experiment.folder import RunFolder
from fidal.federation.flower.quiet import silence
from fidal.federation.state import Phase, Told
from fidal.report.html import write_report

federation = typer.Typer(
    help="The coordinator of a federation between machines.", no_args_is_help=True
)

Config = Annotated[Path, typer.Argument(help="the coordinator's coordinator.toml")]


@federation.command()
def init(
    folder: Annotated[Path, typer.Argument(help="new folder for everything of the coordinator")],
    experiment: Annotated[Path, typer.Option(help="the experiment file that all share")],
    sites: Annotated[str, typer.Option(help="names of the sites, parted by commas")],
    names: Annotated[
        str, typer.Option(help="host names and addresses that sites reach us by, parted by commas")
    ] = "",
) -> None:
    """Write configuration, certificates, units and the proxy's rules."""
    with needing("flower"):
        from fidal.deploy.init import init_coordinator
    places = init_coordinator(folder, experiment, _words(sites), _words(names))
    typer.echo(f"{places.config}: who takes part, and how long they have")
    typer.echo(f"{places.authority[1]} and {experiment}: for every site")


@federation.command()
def admit(
    config: Config,
    site: Annotated[str, typer.Argument(help="the site's name")],
    key: Annotated[Path, typer.Argument(help="the site's site.pub")],
) -> None:
    """Take a site's public key; it may connect once the SuperLink knows it, see `register`."""
    with needing("flower"):
        from fidal.deploy.init import admit as admit_
    admit_(read_file(config, CoordinatorFile), site, key)
    typer.echo(f"site '{site}' is admitted")


@federation.command()
def register(config: Config) -> None:
    """Tell the SuperLink which keys it lets in; waits for one that is starting."""
    file = read_file(config, CoordinatorFile)
    there = _coordinator(file).register_sites(file, wait=60.0)
    typer.echo(f"let in: {', '.join(there) or 'nobody'}")


@federation.command()
def superlink(config: Config) -> None:
    """Flower's SuperLink, on the loopback address; sites reach it through a proxy."""
    file = read_file(config, CoordinatorFile)
    _coordinator(file).become_superlink(file)


@federation.command()
def run(config: Config) -> None:
    """Drive the rounds to their end, or go on where a killed coordinator was."""
    logging.basicConfig(level=logging.WARNING, format="%(levelname)s: %(message)s")
    file = read_file(config, CoordinatorFile)
    run = _coordinator(file).FederationRun.of(file)
    run.go(progress(typer.echo))
    print_summary(Console(), [run.folder])


@federation.command()
def status(config: Config) -> None:
    """Where the run stands, and which sites are connected."""
    file = read_file(config, CoordinatorFile)
    module = _coordinator(file)
    folder = RunFolder(CoordinatorPlaces(file.folder).run(file))
    experiment = file.read_experiment()
    state = folder.load_state(experiment)
    console = Console()
    where = "done" if state.done else f"round {state.round} of {experiment.rounds}, {state.phase}"
    print_table(console, ("run", "stands at"), [(experiment.run_name, where)])
    online = module.connections(file)
    rows = []
    for site in file.sites:
        reply = state.queried.get(site)
        answers = f"{reply.answered} of {reply.asked} answered" if reply else "not asked yet"
        rows.append((site, online.get(site, "not let in"), answers, state.missing.get(site, "")))
    print_table(console, ("site", "connection", "this round", "missing because"), rows)


@federation.command()
def demo(
    out: Annotated[Path, typer.Option(help="new folder of the machines, the run and the page")] = (
        Path("runs/federation-demo")
    ),
    cache: Annotated[Path, typer.Option(help="drawings and embeddings")] = Path("cache"),
) -> None:
    """A whole federation on this machine, with simulated radiologists, and its report."""
    silence(out / "flower")
    with needing("flower"):
        from fidal.deploy.demo import run_demo
    run = run_demo(out, cache, typer.echo)
    page = write_report([run], out / "report", cache)
    typer.echo(f"The page: {page.resolve()}")


def _coordinator(file: CoordinatorFile) -> ModuleType:
    """The module that needs Flower, which is silenced first."""
    silence(CoordinatorPlaces(file.folder).flower)
    with needing("flower"):
        from fidal.deploy import coordinator
    return coordinator


def progress(say: Callable[[str], None]) -> Told:
    """Progress in lines: one per phase, and in `answer` whenever there are more answers."""
    said: list[tuple[Phase, int, int]] = []

    def told(phase: Phase, round: int, done: int, all: int) -> None:
        now = (phase, round, done if phase == "answer" else 0)
        if now in said[-1:]:
            return
        said.append(now)
        say(f"round {round}: {phase}" + (f" {done} of {all}" if phase == "answer" else ""))

    return told


def _words(text: str) -> tuple[str, ...]:
    return tuple(word.strip() for word in text.split(",") if word.strip())
