"""Recall of each class at several settings, e.g. budgets: who gains where it is tight?"""

from typing import Final

from matplotlib.figure import Figure
from matplotlib.projections.polar import PolarAxes

from fidal.report.figures.legend import legend_below
from fidal.report.figures.radar import draw_spokes
from fidal.report.style import TWO_COLUMNS, across, figure, styled
from fidal.report.variations import Variation

TITLE: Final = "Recall of each class"
CAPTION: Final = (
    "Share of each class’s test images that was recognised (%), all sites together, at each "
    "setting’s last round, mean over seeds; at the rim the points between the reference and the "
    "best other method (blue where it leads, red where it trails). All circles have one scale."
)


@styled
def draw(line: Variation) -> Figure | None:
    """One radar per study; None below three classes."""
    if len(line.studies[0].classes) < 3:
        return None
    columns = across(len(line.studies))
    rows = -(-len(line.studies) // columns)
    entries = len({method for study in line.studies for method in study.main})
    height = (2.9 if columns == 2 else 2.25) * rows + 0.2 + 0.15 * -(-entries // 6)
    made = figure(TWO_COLUMNS, height)
    radars = []
    for place, (study, title) in enumerate(zip(line.studies, line.titles, strict=True)):
        axes = made.add_subplot(rows, columns, place + 1, projection="polar")
        assert isinstance(axes, PolarAxes)
        draw_spokes(axes, study)
        axes.set_title(title, pad=10)
        radars.append(axes)
    widest = max(axes.get_rmax() for axes in radars)
    for axes in radars:
        axes.set_rmax(widest)
    legend_below(made, zip(radars, line.studies, strict=True), 6)
    return made
