"""The score over the rounds at several settings, e.g. local epochs: does the lead last?"""

from collections.abc import Sequence
from typing import Final

from matplotlib.figure import Figure

from fidal.report.figures.legend import legend_below
from fidal.report.figures.trajectories import draw_score
from fidal.report.frame import Study
from fidal.report.style import TWO_COLUMNS, figure, panels, styled

TITLE: Final = "Round by round, setting by setting"
CAPTION: Final = (
    "The score (%) over the rounds, mean over seeds with a band of ± one standard deviation; blue "
    "numbers are the points between the reference and the best other method."
)


@styled
def draw(studies: Sequence[Study]) -> Figure | None:
    """One panel per study; None for one study."""
    if len(studies) < 2:
        return None
    columns = min(3, len(studies))
    rows = -(-len(studies) // columns)
    made = figure(TWO_COLUMNS, 2.1 * rows + 0.4)
    grid = panels(made, rows, columns, len(studies))
    for axes, study in zip(grid, studies, strict=True):
        draw_score(axes, study)
        axes.set_title(study.setting)
    for axes in grid[::columns]:
        axes.set_ylabel(f"{studies[0].score_name} (%)")
    legend_below(made, grid[0], 6)
    return made
