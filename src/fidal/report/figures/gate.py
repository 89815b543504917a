"""How the gate works at each site (after Figure 4): its signal G, and what it caught and lost."""

from collections.abc import Callable, Mapping, Sequence
from typing import Final

import numpy as np
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch

from fidal.report.comparing import reference
from fidal.report.evidence import SiteQuery
from fidal.report.frame import Study
from fidal.report.style import (
    GREY,
    ID,
    OOD,
    TWO_COLUMNS,
    figure,
    fitted,
    panels,
    rounds_along,
    styled,
)
from fidal.report.tables.gates import has_gate, over_rounds
from fidal.types import OUTLIER

TITLE: Final = "The gate at each site"
CAPTION: Final = (
    "Top: the coverage G of one run’s candidates at the last query (ID blue, OOD red; grey where "
    "the truth is not known), and the threshold below which a candidate is refused (dashed). "
    "Bottom: over the rounds, the share of OOD caught (red, high is good) and of ID lost (blue, "
    "low is good), with the mean over rounds. Solid: over all candidates, which only a benchmark "
    "knows. Dotted: what the site itself can tell from the images it has had labelled."
)


@styled
def draw(
    study: Study, queries: Sequence[SiteQuery], label: Callable[[str], int] | None
) -> Figure | None:
    """One column per site; `label` tells an image's class, OUTLIER or less. None without a gate."""
    method = reference(study)
    if not has_gate(study, method):
        return None
    known = {query.site: query for query in queries if "coverage" in query.scores}
    columns = min(4, len(study.sites))
    rows = -(-len(study.sites) // columns)
    lines = 2 if known else 1
    made = figure(TWO_COLUMNS, 1.55 * lines * rows + 0.3)
    grid = panels(made, lines * rows, columns, lines * rows * columns)
    for place, site in enumerate(study.sites):
        row, column = divmod(place, columns)
        first = row * lines * columns + column
        grid[first].set_title(fitted(site))
        if site in known:
            _histogram(grid[first], known[site], label)
        _rounds(grid[first + (lines - 1) * columns], study, method, site)
        if column == 0:
            grid[first + (lines - 1) * columns].set_ylabel("%")
    for axes in grid:
        if not axes.has_data():
            axes.remove()
    _legend(made, bool(known))
    return made


def _histogram(axes: Axes, query: SiteQuery, label: Callable[[str], int] | None) -> None:
    coverage = query.scores["coverage"]
    truth = np.array([label(sample) if label else OUTLIER - 1 for sample in query.ids])
    bins = np.linspace(0, 1, 31).tolist()
    groups: Mapping[str, np.ndarray] = {
        ID: truth > OUTLIER,
        OOD: truth == OUTLIER,
        GREY: truth < OUTLIER,
    }
    for colour, own in groups.items():
        if own.any():
            axes.hist(coverage[own], bins, color=colour, alpha=0.55, histtype="stepfilled")
    if np.isfinite(query.cut):
        axes.axvline(query.cut, color="black", ls="--", lw=0.9)
    axes.set_xlim(0, 1)
    axes.set_xlabel("coverage G")
    axes.set_yticks([])
    axes.grid(False)


def _rounds(axes: Axes, study: Study, method: str, site: str) -> None:
    rounds = list(study.rounds[1:])
    words = []
    for name, colour, what in (("recall", OOD, "caught"), ("id_loss", ID, "lost")):
        for key, line in ((f"gate.true_{name}", "-"), (f"gate.{name}", ":")):
            curve = [100 * spread.mean for spread in study.curve(method, key, site)[1:]]
            if np.isfinite(curve).any():
                axes.plot(rounds, curve, ls=line, color=colour, marker="o", ms=2.5)
        mean = over_rounds(study.values(method, f"gate.true_{name}", site)).mean
        if np.isfinite(mean):
            words.append(f"{100 * mean:.0f} % {what}")
    axes.set_xlabel(", ".join(words))
    axes.set_ylim(-4, 104)
    rounds_along(axes, 6)


def _legend(made: Figure, histograms: bool) -> None:
    above: list[Artist] = [
        Patch(color=ID, alpha=0.55, label="ID"),
        Patch(color=OOD, alpha=0.55, label="OOD"),
        Line2D([], [], color="black", ls="--", lw=0.9, label="threshold"),
    ]
    handles: list[Artist] = [
        *(above if histograms else ()),
        Line2D([], [], color=OOD, marker="o", ms=2.5, label="OOD caught"),
        Line2D([], [], color=ID, marker="o", ms=2.5, label="ID lost"),
        Line2D([], [], color=GREY, ls=":", label="by the site’s own labels"),
    ]
    made.legend(handles=handles, loc="outside lower center", ncols=6)
