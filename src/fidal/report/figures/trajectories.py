"""Trajectories over rounds: score, ID purity, and OOD queried so far."""

from typing import Final

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from fidal.report.comparing import reference, rivals
from fidal.report.figures.legend import legend_below, who
from fidal.report.frame import Study
from fidal.report.spread import Spread
from fidal.report.style import (
    ID,
    TWO_COLUMNS,
    figure,
    mark,
    panels,
    rounds_along,
    signed,
    styled,
    tag,
)

TITLE: Final = "Round by round"
CAPTION: Final = (
    "Mean over seeds with a band of ± one standard deviation. Blue numbers: points between the "
    "reference and the best other method at that round. R0 is the shared random warm-up."
)

SHOWN: Final = 5
"""At most so many gaps, for they must be legible."""


@styled
def draw(study: Study) -> Figure:
    """Three panels side by side."""
    made = figure(TWO_COLUMNS, 2.5)
    left, middle, right = panels(made, 1, 3, 3)
    draw_score(left, study)
    _curves(middle, study, "purity", 100)
    _curves(right, study, "outliers", 1)
    left.set_title(f"{study.score_name} (%)")
    middle.set_title("ID purity (%)")
    right.set_title("OOD images queried so far")
    legend_below(made, left, 6)
    return made


def draw_score(axes: Axes, study: Study) -> None:
    """The score of all methods, and above it the reference's lead or lag."""
    _curves(axes, study, study.score(), 100)
    _gaps(axes, study)


def _curves(axes: Axes, study: Study, key: str, scale: float) -> None:
    for method, look in who(study).items():
        curve = study.curve(method, key)
        mean = [scale * spread.mean for spread in curve]
        low = [scale * (spread.mean - _std(spread)) for spread in curve]
        high = [scale * (spread.mean + _std(spread)) for spread in curve]
        style = {**mark(look, 1), "linestyle": "-"}
        (line,) = axes.plot(study.rounds, mean, label=look.label, zorder=3, **style)
        band = axes.fill_between(study.rounds, low, high, color=look.colour, alpha=0.12, lw=0)
        for artist in (line, band):
            tag(artist, study.strategy(method))
    rounds_along(axes, 10)


def _std(spread: Spread) -> float:
    return spread.std if spread.seeds > 1 else 0.0


def _gaps(axes: Axes, study: Study) -> None:
    """Room above the curves, and in it the reference's lead or lag at every queried round."""
    base, others = reference(study), rivals(study)
    if not others:
        return
    low, high = axes.get_ylim()
    axes.set_ylim(low, high + 0.12 * (high - low))
    for round in study.some_rounds(SHOWN):
        own = study.spread(base, study.score(), round).mean
        best = max(study.spread(method, study.score(), round).mean for method in others)
        if own == own and best == best:
            place = (round, high + 0.05 * (high - low))
            axes.annotate(signed(100 * (own - best)), place, ha="center", color=ID, fontsize=6)
