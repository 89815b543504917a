"""The score over the rounds at several settings, e.g. local epochs: does the lead last?"""

from typing import Final

from matplotlib.figure import Figure

from fidal.report.figures.legend import legend_below
from fidal.report.figures.trajectories import draw_score
from fidal.report.style import TWO_COLUMNS, figure, panels, styled
from fidal.report.variations import Variation

TITLE: Final = "Round by round"
CAPTION: Final = (
    "The score (%) over the rounds, mean over seeds; the reference and the best other method have "
    "a band of ± one standard deviation. Numbers: points between these two at that round (blue "
    "where the reference leads, red where it trails). Dashed, where there is one: the paper’s "
    "fully supervised model."
)


@styled
def draw(line: Variation) -> Figure:
    """One panel per study, on one scale."""
    across = 2 if len(line.studies) in (2, 4) else 3
    rows = -(-len(line.studies) // across)
    made = figure(TWO_COLUMNS, 2.1 * rows + 0.4)
    grid = panels(made, rows, across, len(line.studies), sharey=True)
    for axes, study, title in zip(grid, line.studies, line.titles, strict=True):
        draw_score(axes, study)
        axes.set_title(title)
    for axes in grid[::across]:
        axes.set_ylabel(f"{line.studies[0].score_name} (%)")
    legend_below(made, grid[0], 6)
    return made
