"""`fidal data`: the paper's benchmarks from their downloads."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from fidal.cli.progress import counting
from fidal.cli.table import print_table
from fidal.data.contact_sheet import contact_sheet
from fidal.data.prepared import read_prepared
from fidal.data.preparing import COLLECTORS
from fidal.data.preparing.checking import check as check_folder
from fidal.data.preparing.collected import Collector, Count
from fidal.data.preparing.counts import check_counts
from fidal.data.preparing.prepare import prepare as prepare_folder
from fidal.data.preparing.record import Record, read_record
from fidal.experiment.config import with_settings
from fidal.parts import by_name

app = typer.Typer(help="Prepare, check and look at the paper's benchmarks.", no_args_is_help=True)

Name = Annotated[str, typer.Argument(help=f"one of {', '.join(COLLECTORS)}")]
From = Annotated[
    list[Path], typer.Option("--from", help="folder of a download; give it once for each")
]
Settings = Annotated[
    list[str] | None, typer.Option("--set", help="key=value of the benchmark, e.g. seed=1")
]
Root = Annotated[Path, typer.Argument(help="a prepared benchmark's folder")]
Json = Annotated[bool, typer.Option("--json", help="for machines: JSON on stdout, nothing else")]


@app.command()
def prepare(
    name: Name,
    folders: From,
    out: Annotated[Path, typer.Option(help="folder that gets manifest and pixels")],
    settings: Settings = None,
    allow_partial: Annotated[
        bool, typer.Option("--allow-partial", help="go on if the counts are not the paper's")
    ] = False,
    quarantine: Annotated[
        bool, typer.Option("--quarantine", help="leave unreadable images out, and list them")
    ] = False,
    as_json: Json = False,
) -> None:
    """Write a benchmark from its downloads, or go on where that was cut."""
    collector = _collector(name, settings or [])
    console = Console(stderr=as_json)
    if not as_json:
        console.print("reading the metadata, looking for the files ...", highlight=False)
    collected = collector.collect(folders)
    if not as_json:
        _print_counts(console, collected.counts)
    check_counts(name, collected, out, allow_partial=allow_partial)
    with counting(console, "images", quiet=as_json) as told:
        record = prepare_folder(collector, collected, out, quarantine=quarantine, told=told)
    if as_json:
        print(record.model_dump_json(indent=1))
    else:
        _print_record(console, record, out)


@app.command()
def check(root: Root, as_json: Json = False) -> None:
    """Read a prepared benchmark once, every pixel of it, and say what is wrong."""
    console = Console(stderr=as_json)
    with counting(console, "images", quiet=as_json) as progress:
        found = check_folder(root, progress)
    if as_json:
        sites = [
            dict(zip(("site", "id_train", "ood_train", "test"), s, strict=True))
            for s in found.tally
        ]
        told = {"sites": sites, "problems": found.problems, "notes": found.notes}
        print(json.dumps({"benchmark": found.record.benchmark, **told}))
    else:
        header = ("site", "ID training", "OOD training", "test")
        print_table(console, header, [(s, *map(str, numbers)) for s, *numbers in found.tally])
        for note in found.notes:
            console.print(f"note: {note}", highlight=False, soft_wrap=True)
    for problem in found.problems:
        typer.echo(f"fidal: {root}: {problem}", err=True)
    if found.problems:
        raise typer.Exit(2)
    if not as_json:
        console.print(f"{found.record.benchmark}: all is as it was written", highlight=False)


@app.command()
def show(
    root: Root,
    out: Annotated[Path, typer.Option(help="the picture's file, e.g. sheet.png")],
    each: Annotated[int, typer.Option(min=1, help="images per site, ID and OOD")] = 8,
    seed: Annotated[int, typer.Option(help="another one shows other images")] = 0,
) -> None:
    """A contact sheet: what each site has, ID and OOD."""
    manifest, pixels = read_prepared(root, read_record(root))
    contact_sheet(manifest, pixels, each, seed).save(out)
    typer.echo(str(out.resolve()))


def _collector(name: str, settings: Sequence[str]) -> Collector:
    collector = by_name("benchmark", COLLECTORS)(with_settings({"name": name}, settings))
    assert isinstance(collector, Collector)
    return collector


def _print_counts(console: Console, counts: Sequence[Count]) -> None:
    rows = [
        (
            count.what,
            count.site,
            "-" if count.expected is None else f"{count.expected:,}",
            f"{count.found:,}",
            "" if count.expected in (None, count.found) else "differs",
        )
        for count in counts
    ]
    print_table(console, ("what", "site", "expected", "found", ""), rows)


def _print_record(console: Console, record: Record, out: Path) -> None:
    if record.missing:
        told = (
            f"{len(record.missing):,} files that the metadata names are not there, see missing.txt"
        )
        console.print(told, highlight=False)
    if record.quarantined:
        told = f"{len(record.quarantined):,} unreadable images left out, see unreadable.txt"
        console.print(told, highlight=False)
    root = json.dumps(str(out.resolve()))
    console.print(
        f'done; in a configuration:\n\n\\[benchmark]\nname = "{record.benchmark}"\nroot = {root}',
        highlight=False,
        soft_wrap=True,
    )
