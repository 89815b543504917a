"""The sheet of images that were queried and refused, with the numbers behind it (Figure 9)."""

from typing import Final

from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

from fidal.report.album import Album
from fidal.report.exemplars import ACROSS, Exemplar, Kind, Sheet
from fidal.report.style import GREY, TWO_COLUMNS, fitted, styled

TITLE: Final = "Queried and refused images"
CAPTION: Final = (
    "What was put before the experts at the last query, and what the gate kept from them. Blue "
    "frames: queried, and it belongs. Red: queried, and it does not: the method’s mistakes. Green: "
    "refused, rightly. Orange: refused although it belongs: the gate’s mistakes. The images are "
    "chosen by the rule on the left at every site, not by hand. S_ID and S_OOD: similarity to the "
    "nearest labelled ID and OOD image; G: coverage, low is foreign."
)
LEFT: Final = 1.0
"""Inches for the names of the rows."""
TOP: Final = 0.28
UNDER: Final = 0.3
"""Inches below an image, for its text."""
LETTERS: Final = 15
"""So many fit below an image."""


@styled
def draw(sheet: Sheet, album: Album) -> Figure | None:
    """One row per kind, side by side the sites; None if there is no picture to show."""
    exemplars = [e for e in sheet.exemplars if album.picture(e.sample) is not None]
    if not exemplars:
        return None
    kinds, sites, each = sheet.rows, sheet.sites, sheet.each
    cell = (TWO_COLUMNS - LEFT) / ACROSS
    height = TOP + len(kinds) * (cell + UNDER)
    made = Figure(figsize=(TWO_COLUMNS, height))
    axes = made.add_axes((0, 0, 1, 1))
    axes.set(xlim=(0, TWO_COLUMNS), ylim=(height, 0))
    axes.axis("off")
    axes.autoscale(False)
    for column, site in enumerate(sites):
        middle = LEFT + (column + 0.5) * each * cell
        name = fitted(site, max(9, 12 * each))
        axes.text(middle, TOP / 2, name, ha="center", va="center", weight="bold", fontsize=7)
    for row, kind in enumerate(kinds):
        top = TOP + row * (cell + UNDER)
        _name(axes, kind, top, cell)
        for column, site in enumerate(sites):
            own = [e for e in exemplars if e.kind == kind and e.site == site]
            for place in range(each):
                left = LEFT + (column * each + place) * cell
                if place < len(own):
                    _picture(axes, own[place], album, left, top, cell)
                elif not own and place == 0:
                    _nothing(axes, left + each * cell / 2, top + cell / 2)
    return made


def _name(axes: Axes, kind: Kind, top: float, cell: float) -> None:
    middle = top + cell / 2
    axes.text(0.06, middle - 0.02, kind.title, va="bottom", weight="bold", color=kind.colour)
    axes.text(0.06, middle + 0.02, kind.rule, va="top", fontsize=6, color=GREY)


def _nothing(axes: Axes, x: float, y: float) -> None:
    axes.text(x, y, "none", ha="center", va="center", color=GREY, fontsize=6)


def _picture(
    axes: Axes, exemplar: Exemplar, album: Album, left: float, top: float, cell: float
) -> None:
    gap = 0.045
    edge = cell - 2 * gap
    x, y = left + gap, top + gap
    pixels = album.picture(exemplar.sample)
    assert pixels is not None
    axes.imshow(pixels, extent=(x, x + edge, y + edge, y), aspect="auto", zorder=1)
    frame = Rectangle((x, y), edge, edge, fill=False, ec=exemplar.kind.colour, lw=1.8, zorder=2)
    axes.add_patch(frame)
    word = album.word(exemplar.sample)
    text = f"{word if len(word) <= LETTERS else word[: LETTERS - 1] + '…'}\n{exemplar.score}"
    axes.text(left + cell / 2, y + edge + 0.035, text, ha="center", va="top", size=6)
