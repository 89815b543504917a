"""What the labelled pool is made of, round by round (Figures S2 to S4)."""

from collections.abc import Mapping
from typing import Any, Final

from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch

from fidal.report.figures.legend import who
from fidal.report.frame import Study
from fidal.report.style import ID, OOD, TWO_COLUMNS, across, figure, panels, styled, tag

TITLE: Final = "What the labelled pool is made of"
CAPTION: Final = (
    "Images an expert has looked at so far, all sites together, mean over seeds: those that "
    "belonged (ID, blue, with their share) and those that did not (OOD, red, counted on the "
    "right). The dashed rule is Random’s number of ID images: a blue bar that passes it wasted "
    "less than chance."
)
RULE: Final[Mapping[str, Any]] = {"color": "black", "linestyle": "--", "linewidth": 0.9}
SHOWN: Final = 6
"""At most so many rounds."""


@styled
def draw(study: Study) -> Figure:
    """One panel per round, one bar per method."""
    rounds = study.some_rounds(SHOWN)
    columns = across(len(rounds))
    rows = -(-len(rounds) // columns)
    made = figure(TWO_COLUMNS, rows * (0.45 + 0.19 * len(study.main)) + 0.25)
    grid = panels(made, rows, columns, len(rounds), sharey=True)
    for axes, round in zip(grid, rounds, strict=True):
        _bars(axes, study, round)
        axes.set_title(f"R{round}")
    handles: list[Artist] = [
        Patch(color=ID, label="belongs (ID)"),
        Patch(color=OOD, label="does not belong (OOD)"),
    ]
    if "random" in study.main:
        handles.append(Line2D([], [], label="Random’s ID", **RULE))
    made.legend(handles=handles, loc="outside lower center", ncols=3)
    return made


def _bars(axes: Axes, study: Study, round: int) -> None:
    styles = who(study)
    names = [styles[method].label for method in study.main]
    for row, method in enumerate(study.main):
        inside = study.spread(method, "labelled", round).mean
        outside = study.spread(method, "outliers", round).mean
        blue = axes.barh(row, inside, color=ID, height=0.72)
        red = axes.barh(row, outside, left=inside, color=OOD, height=0.72)
        total = inside + outside
        texts = []
        if total > 0:
            share = f"{inside:,.0f} · {100 * inside / total:.0f} %"
            small: Any = {"va": "center", "fontsize": 6}
            texts.append(axes.text(0.02 * total, row, share, color="white", **small))
            texts.append(axes.text(1.02 * total, row, f"{outside:,.0f}", color=OOD, **small))
        for artist in (*blue, *red, *texts):
            tag(artist, study.strategy(method))
    for method in study.main:
        if study.strategy(method) == "random":
            rule = study.spread(method, "labelled", round).mean
            axes.axvline(rule, zorder=5, **RULE)
    axes.set_yticks(range(len(names)), names)
    axes.grid(axis="y", visible=False)
    axes.set_xlim(right=1.18 * axes.dataLim.x1)
    axes.set_ylim(len(names) - 0.5, -0.5)
