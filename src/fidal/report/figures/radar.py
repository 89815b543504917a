"""Recall of each class, as a radar: whom does the better number serve?"""

from collections.abc import Mapping
from typing import Final, Literal

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patheffects import withStroke
from matplotlib.projections.polar import PolarAxes
from matplotlib.ticker import MaxNLocator

from fidal.report.comparing import final_round, reference, rivals
from fidal.report.figures.legend import legend_below, who
from fidal.report.frame import Study
from fidal.report.spread import Floats
from fidal.report.style import (
    GREY,
    ONE_COLUMN,
    figure,
    fitted,
    mark,
    side_colour,
    signed,
    styled,
    tag,
)

TITLE: Final = "Recall of each class"
CAPTION: Final = (
    "Share of each class’s test images that was recognised (%), all sites together, at the last "
    "round, mean over seeds. Numbers at the rim: points between the reference and the best other "
    "method for that class (blue where it leads, red where it trails)."
)

SIDES: Final[Mapping[int, Literal["left", "center", "right"]]] = {
    -1: "right",
    0: "center",
    1: "left",
}
"""Towards which side a spoke's name grows, by the sine of its angle: away from the circle."""

LETTERS: Final = 12
"""In a line of a class's name."""


@styled
def draw(study: Study) -> Figure | None:
    """One spoke per class; None below three classes, which have no area."""
    if len(study.classes) < 3:
        return None
    made = figure(ONE_COLUMN, 3.6)
    axes = made.add_subplot(projection="polar")
    draw_spokes(axes, study)
    legend_below(made, [(axes, study)], 3)
    return made


def draw_spokes(axes: Axes, study: Study) -> None:
    """All methods on one radar, with the gaps at its rim."""
    assert isinstance(axes, PolarAxes)
    turn = 2 * np.pi * np.arange(len(study.classes)) / len(study.classes)
    for method, look in who(study).items():
        recall = mean_recall(study, method)
        closed = {**mark(look, 0.8), "linestyle": "-"}
        front = 4 if look.marker == "*" else 3
        angles, values = np.append(turn, turn[:1]), np.append(recall, recall[:1])
        (line,) = axes.plot(angles, values, label=look.label, zorder=front, **closed)
        tag(line, study.strategy(method))
    axes.set_theta_zero_location("N")
    axes.set_theta_direction(-1)
    axes.set_xticks(turn, _spokes(study))
    for text, angle, gap in zip(axes.get_xticklabels(), turn, class_gaps(study), strict=True):
        text.set_horizontalalignment(SIDES[round(float(np.sin(angle)))])
        text.set_color(side_colour(gap))
    wrapped = any(fitted(name, LETTERS) != name for name in study.classes)
    axes.tick_params(axis="x", pad=6 if wrapped else 2)
    axes.set_ylim(0, None)
    axes.spines["polar"].set(color=GREY, linewidth=0.5)
    axes.set_rlabel_position(180 / len(study.classes))
    axes.yaxis.set_major_locator(MaxNLocator(4, prune="lower"))
    axes.tick_params(axis="y", labelsize=6, labelcolor=GREY)
    for text in axes.get_yticklabels():
        text.set_path_effects([withStroke(linewidth=2, foreground="white")])
        text.set_zorder(6)


def mean_recall(study: Study, method: str) -> Floats:
    """In percent per class, over the seeds that have the last round."""
    each = study.recalls(method)[:, final_round(study, method)]
    there = each[np.isfinite(each).any(1)]
    return 100 * there.mean(0) if len(there) else np.full(len(study.classes), np.nan)


def class_gaps(study: Study) -> Floats:
    """Points per class between the reference and the best other method."""
    others = [mean_recall(study, method) for method in rivals(study)]
    if not others:
        return np.full(len(study.classes), np.nan)
    return np.asarray(mean_recall(study, reference(study)) - np.max(others, axis=0))


def _spokes(study: Study) -> list[str]:
    gaps = class_gaps(study)
    texts = [signed(gap) if np.isfinite(gap) else "" for gap in gaps]
    return [
        f"{fitted(name, LETTERS)}\n{text}" for name, text in zip(study.classes, texts, strict=True)
    ]
