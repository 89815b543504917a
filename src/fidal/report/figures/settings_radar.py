"""Recall of each class at several settings, e.g. budgets: who gains where it is tight?"""

from collections.abc import Sequence
from typing import Final

from matplotlib.figure import Figure

from fidal.report.figures.legend import legend_below
from fidal.report.figures.radar import draw_spokes
from fidal.report.frame import Study
from fidal.report.style import TWO_COLUMNS, figure, styled

TITLE: Final = "Recall of each class, setting by setting"
CAPTION: Final = (
    "Share of each class’s test images that was recognised (%), all sites together, at each "
    "setting’s last round, mean over seeds; at the rim the points between the reference and the "
    "best other method (blue where it leads, red where it trails)."
)
ACROSS: Final = 3


@styled
def draw(studies: Sequence[Study]) -> Figure | None:
    """One radar per study; None for one study, or below three classes."""
    if len(studies) < 2 or len(studies[0].classes) < 3:
        return None
    rows = -(-len(studies) // ACROSS)
    made = figure(TWO_COLUMNS, 2.75 * rows + 0.4)
    for place, study in enumerate(studies):
        axes = made.add_subplot(rows, ACROSS, place + 1, projection="polar")
        draw_spokes(axes, study)
        axes.set_title(study.setting, pad=12)
    legend_below(made, made.axes[0], 6)
    return made
