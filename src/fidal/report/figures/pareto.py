"""Pareto trajectories: score against ID purity over the rounds, federation-wide."""

from typing import Final

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from fidal.experiment.records import FEDERATION
from fidal.report.figures.legend import legend_below, who
from fidal.report.frame import Study
from fidal.report.style import ONE_COLUMN, figure, mark, styled, tag

TITLE: Final = "Accuracy and purity over the rounds"
CAPTION: Final = (
    "Each path is one method over the rounds, from the shared random warm-up (small open circle) "
    "to its last round (large mark); mean over seeds. Top right is best: accurate, and few images "
    "wasted."
)


@styled
def draw(study: Study) -> Figure:
    """One path per method."""
    made = figure(ONE_COLUMN, 3.0)
    axes = made.add_subplot()
    draw_paths(axes, study, FEDERATION)
    axes.set_xlabel("ID purity (%)")
    axes.set_ylabel(f"{study.score_name} (%)")
    legend_below(made, [(axes, study)], 3)
    return made


def draw_paths(axes: Axes, study: Study, site: str) -> None:
    """The paths of all methods at one site, or of the federation."""
    for method, look in who(study).items():
        x = [100 * spread.mean for spread in study.curve(method, "purity", site)]
        y = [100 * spread.mean for spread in study.curve(method, study.score(site), site)]
        front = 4 if look.marker == "*" else 3
        style = mark(look, 0.8)
        (path,) = axes.plot(x, y, zorder=front, alpha=0.9, **{**style, "linestyle": "-"})
        (end,) = axes.plot(x[-1:], y[-1:], label=look.label, zorder=front + 1, **mark(look, 1.7))
        (start,) = axes.plot(x[:1], y[:1], "o", ms=3, mfc="white", mec=look.colour, zorder=front)
        for artist in (path, end, start):
            tag(artist, study.strategy(method))
    axes.margins(0.1)
