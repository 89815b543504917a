"""`fidal demo` and `fidal report`: from nothing, or from runs, to a page."""

import tomllib
from importlib.resources import files
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

from fidal.cli.progress import listening
from fidal.cli.summary import print_summary
from fidal.experiment.sweep import expand, run_all
from fidal.report.feature_map import Projection
from fidal.report.html import write_report
from fidal.report.tables.cost import READING_SECONDS


def demo(
    out: Annotated[Path, typer.Option(help="folder of the runs and the page")] = Path("runs/demo"),
    cache: Annotated[Path, typer.Option(help="drawings and embeddings")] = Path("cache"),
) -> None:
    """Four strategies on four drawn clinics, and a page that compares them: about two minutes."""
    console = Console()
    table = tomllib.loads(files("fidal.experiment").joinpath("demo.toml").read_text())
    experiments = expand(table)
    console.print("drawing four clinics, once ...", highlight=False)
    experiments[0].benchmark.load(cache)
    with listening(console, len(experiments), quiet=False) as listener:
        outcomes = run_all(experiments, out, cache, listener)
    failed = [f"{o.run.experiment.strategy.name}: {o.error}" for o in outcomes if o.error]
    if failed:
        raise ValueError("; ".join(failed))
    folders = [o.run.folder for o in outcomes]
    page = write_report([folder.path for folder in folders], out / "report", cache)
    print_summary(console, folders, as_json=False)
    console.print(f"The page: {page.resolve()}", soft_wrap=True, highlight=False)


def report(
    runs: Annotated[list[Path], typer.Argument(help="run folders, or folders of them")],
    out: Annotated[Path, typer.Option(help="folder for the page, figures and tables")],
    cache: Annotated[Path, typer.Option(help="where the benchmarks were kept")] = Path("cache"),
    title: Annotated[str | None, typer.Option(help="of the page")] = None,
    seconds: Annotated[float, typer.Option(min=0, help="reading time per image")] = READING_SECONDS,
    projection: Annotated[
        Projection, typer.Option("--map", help="of the frozen features; umap takes half a minute")
    ] = "pca",
) -> None:
    """One self-contained page of the runs, with every figure and table as files beside it."""
    page = write_report(runs, out, cache, title, seconds, projection)
    typer.echo(str(page.resolve()))
