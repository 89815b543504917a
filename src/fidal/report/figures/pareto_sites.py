"""The Pareto trajectories of each site (Figure S1): does one site alone drive the gain?"""

from typing import Final

from matplotlib.figure import Figure

from fidal.report.figures.legend import legend_below
from fidal.report.figures.pareto import draw_paths
from fidal.report.frame import Study
from fidal.report.style import TWO_COLUMNS, figure, fitted, panels, styled

TITLE: Final = "Accuracy and purity at each site"
CAPTION: Final = (
    "The same paths, site by site: the score on the site’s own test images against the ID purity "
    "of its own labelled pool. A gain that stands at one site only would be seen here."
)


@styled
def draw(study: Study) -> Figure:
    """One panel per site."""
    columns = min(4, len(study.sites))
    rows = -(-len(study.sites) // columns)
    made = figure(TWO_COLUMNS, 2.1 * rows + 0.4)
    grid = panels(made, rows, columns, len(study.sites))
    for axes, site in zip(grid, study.sites, strict=True):
        draw_paths(axes, study, site)
        axes.set_title(fitted(site))
        axes.set_xlabel("ID purity (%)")
    for axes in grid[::columns]:
        axes.set_ylabel(f"{study.score_name} (%)")
    legend_below(made, [(grid[0], study)], 6)
    return made
