"""`fidal demo` and `fidal report`: from nothing, or from runs, to a page."""

import tomllib
from importlib.resources import files
from pathlib import Path
from typing import Annotated

import typer

from fidal.cli.sweep import run_sweep
from fidal.experiment.sweep import expand
from fidal.experiment.sweep.calling import Calling
from fidal.experiment.sweep.home import Home
from fidal.experiment.sweep.shares import cores
from fidal.report.feature_map import Projection
from fidal.report.html import write_report
from fidal.report.tables.cost import READING_SECONDS


def demo(
    out: Annotated[Path, typer.Option(help="folder of the runs and the page")] = Path("runs/demo"),
    cache: Annotated[Path, typer.Option(help="drawings and embeddings")] = Path("cache"),
) -> None:
    """Four strategies on four drawn clinics, and a page that compares them: about two minutes."""
    experiments = expand(tomllib.loads(files("fidal.experiment").joinpath("demo.toml").read_text()))
    jobs = min(cores(), len(experiments))
    code = run_sweep("demo", experiments, Home(out), cache, Calling(jobs=jobs))
    if code:
        raise typer.Exit(code)
    page = write_report([Home(out).run(each).path for each in experiments], out / "report", cache)
    print(f"The page: {page.resolve()}")


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
