"""Every figure and table as files beside the page, and a figure as the page shows it."""

import base64
import re
from dataclasses import dataclass
from pathlib import Path

from markupsafe import Markup, escape

from fidal.report.export import inline, png, svg
from fidal.report.figures import Drawn
from fidal.report.style import TWO_COLUMNS
from fidal.report.tables.formats import as_csv, as_latex, as_markdown
from fidal.report.tables.table import Table


@dataclass(frozen=True)
class Plate:
    """A figure as the page shows it."""

    title: str
    caption: str
    image: Markup
    wide: bool
    file: str
    """Path of its files beside the page, without the ending."""


def write_figure(drawn: Drawn, out: Path, key: str) -> Plate:
    """As PNG and SVG below `out`/figures; `key` is the chapter's."""
    name = f"{key}-{slug(drawn.name)}"
    vector = svg(drawn.figure)
    drawn.figure.set_layout_engine("none")  # it is laid out; doing it again takes as long
    pixels = png(drawn.figure)
    _write(out / f"figures/{name}.svg", vector.encode())
    _write(out / f"figures/{name}.png", pixels)
    return Plate(
        title=drawn.title,
        caption=drawn.caption,
        image=Markup(_image(drawn.title, vector, pixels, name)),
        wide=drawn.figure.get_figwidth() >= TWO_COLUMNS,
        file=f"figures/{name}",
    )


def write_table(table: Table, out: Path, key: str) -> str:
    """As CSV, Markdown and LaTeX below `out`/tables. Out: their path, without the ending."""
    file = f"tables/{key}-{table.name}"
    texts = {"csv": as_csv(table), "md": as_markdown(table), "tex": as_latex(table)}
    for ending, text in texts.items():
        _write(out / f"{file}.{ending}", text.encode())
    return file


def slug(text: str) -> str:
    """For file names and ids: lower case, digits and dashes."""
    return re.sub(r"[^a-z0-9.]+", "-", text.lower()).strip("-.")


def _image(title: str, vector: str, pixels: bytes, name: str) -> str:
    """Photographs would be in the SVG at full size, so what has some is shown as PNG."""
    if "<image" not in vector:
        return inline(vector, name, title)
    data = base64.b64encode(pixels).decode()
    return f'<img alt="{escape(title)}" src="data:image/png;base64,{data}">'


def _write(path: Path, content: bytes) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)
