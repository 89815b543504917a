"""`fidal site`: a clinic of a federation between machines."""

import logging
import os
import sys
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console

from fidal.cli.extras import needing
from fidal.cli.table import print_table
from fidal.deploy.config import SiteFile, read_file
from fidal.deploy.files import SitePlaces
from fidal.deploy.site import connect_command, serve_site
from fidal.site.audit import verified, verify
from fidal.site.switch import Position, Switch

site = typer.Typer(help="A clinic of a federation between machines.", no_args_is_help=True)
audit = typer.Typer(help="The log of every message in and out.", no_args_is_help=True)
site.add_typer(audit, name="audit")

Config = Annotated[Path, typer.Argument(help="the site's site.toml")]


@site.command()
def init(
    folder: Annotated[Path, typer.Argument(help="new folder for everything of the site")],
    name: Annotated[str, typer.Option(help="as the coordinator knows the site")],
    coordinator: Annotated[str, typer.Option(help="host:port of the coordinator")],
    experiment: Annotated[Path, typer.Option(help="the shared experiment file")],
    ca: Annotated[Path, typer.Option(help="the coordinator's certificate, ca.pem")],
    images: Annotated[Path, typer.Option(help="folder of the images and their manifest.csv")],
) -> None:
    """Write configuration, keys, units and container files."""
    with needing("flower"):
        from fidal.deploy.init import init_site
    places = init_site(folder, name, coordinator, experiment, ca, images)
    typer.echo(f"{places.config}: say there where the images are and what the site accepts")
    typer.echo(f"{places.public_key}: send it to the coordinator, and nothing else")


@site.command()
def serve(config: Config) -> None:
    """The site's process: owns images, model and ledger, and answers at its socket and desk."""
    logging.basicConfig(level=logging.INFO, format="%(levelname)s: %(message)s")
    file = read_file(config, SiteFile)
    os.chdir(file.folder)
    serve_site(file)


@site.command()
def connect(config: Config) -> None:
    """The site's connection to the coordinator: Flower's SuperNode, which sees no image."""
    command = connect_command(read_file(config, SiteFile))
    sys.stdout.flush()
    os.execv(command[0], command)


@site.command()
def pause(config: Config) -> None:
    """Answer no requests for a while; the coordinator waits as long as it can."""
    _turn(config, "paused")


@site.command()
def resume(config: Config) -> None:
    """Answer requests again, after `pause` or `stop`."""
    _turn(config, "on")


@site.command()
def stop(config: Config) -> None:
    """Leave the federation: refuse every request from now on."""
    _turn(config, "stopped")


@site.command()
def status(config: Config) -> None:
    """The switch, the desk, the log."""
    file = read_file(config, SiteFile)
    places = SitePlaces(file.folder)
    entries, last = verify(places.audit) if places.audit.exists() else (0, "-")
    desk = places.desk.read_text().strip() if places.desk.exists() else "never opened"
    rows = [
        ("site", file.name),
        ("switch", Switch(places.switch).position),
        ("desk", desk),
        ("audit log", f"{entries} entries, chain whole, last hash {last}"),
    ]
    print_table(Console(), ("what", "how"), rows)


@audit.command()
def show(
    config: Config, last: Annotated[int, typer.Option(help="so many entries; 0: all")] = 20
) -> None:
    """The latest entries, one line each, as they stand in the log."""
    path = SitePlaces(read_file(config, SiteFile).folder).audit
    entries = [_line(entry) for entry in verified(path)]
    print_table(Console(), ("number", "time", "way", "what", "bytes"), entries[-last:])


@audit.command("verify")
def verify_(
    config: Config,
    expected: Annotated[
        str | None, typer.Option("--contains", help="a hash noted earlier, outside the log")
    ] = None,
) -> None:
    """Follow the chain of hashes from the first entry to the last."""
    path = SitePlaces(read_file(config, SiteFile).folder).audit
    entries, last = verify(path, expected)
    typer.echo(f"{entries} entries, the chain is whole; the last hash is {last}")


def _line(entry: dict[str, Any]) -> tuple[str, ...]:
    if entry["way"] == "note":
        return str(entry["number"]), entry["time"], "note", entry["text"], ""
    fields = ", ".join(f"{key}={value}" for key, value in entry["fields"].items())
    what = f"{entry['kind']}: {fields}"
    return str(entry["number"]), entry["time"], entry["way"], what, str(entry["bytes"])


def _turn(config: Path, position: Position) -> None:
    places = SitePlaces(read_file(config, SiteFile).folder)
    places.state.mkdir(exist_ok=True)
    Switch(places.switch).turn(position)
    typer.echo(f"the site is {position}")
