"""`fidal embed`: the embeddings of a benchmark, once and for all runs."""

import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer
from rich.console import Console
from rich.progress import BarColumn, TextColumn
from rich.progress import Progress as Bars

from fidal.cli.options import Cache, Json
from fidal.data import BENCHMARKS
from fidal.data.benchmark import Source
from fidal.data.embeddings import write_embeddings
from fidal.data.preparing.record import RECORD, read_record
from fidal.encoders import ENCODERS
from fidal.encoders.base import Encoder
from fidal.encoders.cache import embed as embed_images
from fidal.encoders.progress import Progress, Told, silent, sometimes
from fidal.experiment.config import ConfigError, put, read_table, with_settings
from fidal.parts import by_name, nearest


def embed(
    benchmark: Annotated[
        str, typer.Argument(help="a TOML file, a prepared folder, or the name of a benchmark")
    ],
    encoder: Annotated[
        str | None, typer.Option(help="see `fidal list encoders`; the TOML file's if unset")
    ] = None,
    settings: Annotated[
        list[str] | None, typer.Option("--set", help="key=value of the encoder, e.g. model=base")
    ] = None,
    cache: Cache = Path("cache"),
    out: Annotated[
        Path | None, typer.Option(help="also one .npz or .safetensors file with ids")
    ] = None,
    as_json: Json = False,
) -> None:
    """Compute the embeddings of all images, or go on where that was cut."""
    table = _benchmark(benchmark)
    chosen = _encoder(table.get("encoder"), encoder, settings or [])
    source: Any = by_name("benchmark", BENCHMARKS)(table)
    assert isinstance(source, Source)
    console = Console(stderr=as_json)
    loaded = source.bare().load(cache)
    images: Any = loaded.inputs
    with _showing(console, chosen, as_json) as told:
        rows = embed_images(chosen, loaded.manifest.ids, images, cache, told)
    if out is not None:
        write_embeddings(out, loaded.manifest.ids, rows.astype(np.dtype(chosen.keep)))
    n, e = rows.shape
    if as_json:
        print(json.dumps({"images": n, "dimension": e, "encoder": chosen.model_dump(mode="json")}))
    else:
        where = f"{cache}" + (f" and in {out}" if out else "")
        console.print(f"{n:,} embeddings of length {e} are in {where}", highlight=False)


def _benchmark(word: str) -> dict[str, Any]:
    """The table of the benchmark that is meant."""
    path = Path(word)
    if path.suffix == ".toml":
        table = read_table(path).get("benchmark", {})
        return {"name": table} if isinstance(table, str) else dict(table)
    if (path / RECORD).is_file():
        return {"name": read_record(path).benchmark, "root": path}
    if word in BENCHMARKS:
        return {"name": word}
    raise ConfigError(
        f"'{word}' is no TOML file, no prepared folder (there is no {path / RECORD}) and no "
        f"benchmark; {nearest(word, BENCHMARKS)}"
    )


def _encoder(configured: object, name: str | None, settings: Sequence[str]) -> Encoder:
    """The encoder of the command line over that of the file."""
    table: dict[str, Any] = {} if configured is None else {"encoder": configured}
    if name is not None:
        put(table, "encoder.name", name)
    table = with_settings(table, [f"encoder.{setting}" for setting in settings])
    if "encoder" not in table:
        raise ConfigError(f"which encoder? give --encoder; known: {', '.join(ENCODERS)}")
    try:
        chosen: Any = by_name("encoder", ENCODERS)(table["encoder"])
    except ValueError as error:
        raise ConfigError(
            f"encoder {name or configured}: {error}; its fields are given with --set"
        ) from error
    assert isinstance(chosen, Encoder)
    return chosen


@contextmanager
def _showing(console: Console, encoder: Encoder, quiet: bool) -> Iterator[Told]:
    """Rate and remaining time: a bar on a terminal, elsewhere a line every now and then."""
    if quiet:
        yield silent
    elif not console.is_terminal:
        yield sometimes(encoder.name, lambda text: console.print(text, highlight=False))
    else:
        with Bars(BarColumn(bar_width=None), TextColumn("{task.description}")) as bars:
            bar = bars.add_task(encoder.name, total=None)

            def told(progress: Progress) -> None:
                bars.update(
                    bar,
                    completed=progress.done,
                    total=progress.total,
                    description=f"{encoder.name}: {progress}",
                )

            yield told
