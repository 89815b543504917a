"""The score over the rounds at several settings, e.g. local epochs: does the lead last?"""

from typing import Final

from matplotlib.figure import Figure

from fidal.report.figures.legend import legend_below
from fidal.report.figures.trajectories import ROOM, draw_score
from fidal.report.style import TWO_COLUMNS, across, figure, panels, styled
from fidal.report.variations import Variation

TITLE: Final = "Round by round"
CAPTION: Final = (
    "The score (%) over the rounds, mean over seeds; the reference and the method that ends best "
    "of the others have a band of ± one standard deviation. Numbers: points between the reference "
    "and the best other at that round (blue where it leads, red where it trails). Dashed, where "
    "there is one: the paper’s fully supervised model."
)


@styled
def draw(line: Variation) -> Figure:
    """One panel per study, on one scale."""
    columns = across(len(line.studies))
    rows = -(-len(line.studies) // columns)
    made = figure(TWO_COLUMNS, 2.2 * rows + 0.4)
    grid = panels(made, rows, columns, len(line.studies), sharey=True)
    for axes, study, title in zip(grid, line.studies, line.titles, strict=True):
        draw_score(axes, study)
        axes.set_title(title, pad=ROOM)
    for axes in grid[::columns]:
        axes.set_ylabel(f"{line.studies[0].score_name} (%)")
    legend_below(made, zip(grid, line.studies, strict=True), 6)
    return made
