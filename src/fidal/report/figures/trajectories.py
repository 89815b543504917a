"""Trajectories over rounds (Figure 7): score, ID purity, and OOD queried so far."""

from typing import Any, Final

import numpy as np
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from fidal.report.comparing import rank, reference, rivals
from fidal.report.figures.legend import legend_below, who
from fidal.report.frame import Study
from fidal.report.paper import supervised
from fidal.report.style import (
    TWO_COLUMNS,
    figure,
    mark,
    panels,
    rounds_along,
    side_colour,
    signed,
    styled,
    tag,
)

TITLE: Final = "Round by round"
CAPTION: Final = (
    "Mean over seeds; the reference and the method that ends best of the others have a band of ± "
    "one standard deviation. Numbers: points between the reference and the best other at that "
    "round (blue where it leads, red where it trails). R0 is the shared random warm-up. Dashed, "
    "where there is one: the paper’s fully supervised model."
)

SHOWN: Final = 5
"""At most so many gaps, for they must be legible."""
ROOM: Final = 11
"""Points between a panel and its title, where the gaps stand."""


@styled
def draw(study: Study) -> Figure:
    """Three panels side by side."""
    made = figure(TWO_COLUMNS, 2.6)
    left, middle, right = panels(made, 1, 3, 3)
    draw_score(left, study)
    _curves(middle, study, "purity", 100)
    _curves(right, study, "outliers", 1)
    left.set_title(f"{study.score_name} (%)", pad=ROOM)
    middle.set_title("ID purity (%)", pad=ROOM)
    right.set_title("OOD images queried so far", pad=ROOM)
    legend_below(made, [(left, study)], 6)
    return made


def draw_score(axes: Axes, study: Study) -> None:
    """The score of all methods, and above the panel the reference's lead or lag."""
    _curves(axes, study, study.score(), 100)
    _gaps(axes, study)
    ceiling = supervised(study.benchmark)
    if ceiling is not None:
        axes.axhline(100 * ceiling, color="black", linestyle="--", linewidth=0.8, zorder=2)


def _curves(axes: Axes, study: Study, key: str, scale: float) -> None:
    compared = {reference(study), *rank(study, rivals(study))[:1]}
    for method, look in who(study).items():
        curve = study.curve(method, key)
        mean = np.array([scale * spread.mean for spread in curve])
        style = {**mark(look, 1), "linestyle": "-"}
        artists: list[Artist] = [
            *axes.plot(study.rounds, mean, label=look.label, zorder=3, **style)
        ]
        if method in compared:
            std = np.array([scale * spread.std if spread.seeds > 1 else 0.0 for spread in curve])
            band: Any = {"color": look.colour, "alpha": 0.15, "lw": 0}
            artists.append(axes.fill_between(study.rounds, mean - std, mean + std, **band))
        for artist in artists:
            tag(artist, study.strategy(method))
    rounds_along(axes, 10)


def _gaps(axes: Axes, study: Study) -> None:
    """Above the panel, the reference's lead or lag at some of the queried rounds."""
    base, others = reference(study), rivals(study)
    for round in study.some_rounds(SHOWN) if others else ():
        own = study.spread(base, study.score(), round).mean
        best = max(study.spread(method, study.score(), round).mean for method in others)
        gap = 100 * (own - best)
        if np.isfinite(gap):
            axes.annotate(
                signed(gap),
                (round, 1.01),
                xycoords=("data", "axes fraction"),
                ha="center",
                color=side_colour(gap),
                fontsize=6,
            )
