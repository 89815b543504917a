"""Sensitivity to lambda_div and lambda_ood: heat maps of the grid, and its Pareto scatter."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

from fidal.report.comparing import final_round, reference
from fidal.report.frame import Study
from fidal.report.spread import Floats
from fidal.report.style import OOD, TWO_COLUMNS, figure, panels, styled

TITLE: Final = "Sensitivity to the two weights"
CAPTION: Final = (
    "Score and ID purity (%) at the last round for every pair of lambda_div and lambda_ood, mean "
    "over seeds; the red box marks the adopted pair. Right: the same cells as points (colour "
    "lambda_ood, size lambda_div), and the line of those that no other beats in both."
)


@dataclass(frozen=True)
class Grid:
    """The variants that differ in the two weights only, by their values."""

    div: tuple[float, ...]
    ood: tuple[float, ...]
    method: Mapping[tuple[float, float], str]


def grid_of(study: Study) -> Grid | None:
    """None unless the reference ran with at least two values of each weight."""
    strategy = study.strategy(reference(study))
    cells: dict[tuple[float, float], str] = {}
    rest: set[str] = set()
    for run in study.runs:
        if run.strategy != strategy:
            continue
        fields: Any = run.config["strategy"]
        if "lambda_div" not in fields or "lambda_ood" not in fields:
            return None
        cells[float(fields["lambda_div"]), float(fields["lambda_ood"])] = run.method
        rest.add(str({k: v for k, v in fields.items() if k not in ("lambda_div", "lambda_ood")}))
    div, ood = (tuple(sorted({pair[i] for pair in cells})) for i in (0, 1))
    if len(div) < 2 or len(ood) < 2 or len(rest) > 1:
        return None
    return Grid(div, ood, cells)


@styled
def draw(study: Study) -> Figure | None:
    """Two heat maps and a scatter."""
    grid = grid_of(study)
    if grid is None:
        return None
    score, purity = _values(study, grid, study.score()), _values(study, grid, "purity")
    made = figure(TWO_COLUMNS, 2.4)
    left, middle, right = panels(made, 1, 3, 3)
    adopted = next(pair for pair, method in grid.method.items() if method == reference(study))
    _heat(left, grid, score, adopted, f"{study.score_name} (%)")
    _heat(middle, grid, purity, adopted, "ID purity (%)")
    _scatter(right, grid, score, purity)
    right.set(xlabel="ID purity (%)", ylabel=f"{study.score_name} (%)")
    return made


def _values(study: Study, grid: Grid, key: str) -> Floats:
    """In percent, div x ood; NaN where a cell was not run."""
    values = np.full((len(grid.div), len(grid.ood)), np.nan)
    for (div, ood), method in grid.method.items():
        spread = study.spread(method, key, final_round(study, method))
        values[grid.div.index(div), grid.ood.index(ood)] = 100 * spread.mean
    return values


def _heat(axes: Axes, grid: Grid, values: Floats, adopted: tuple[float, float], title: str) -> None:
    axes.imshow(values, cmap="cividis", aspect="auto", origin="lower")
    middle = (np.nanmin(values) + np.nanmax(values)) / 2
    for (row, column), value in np.ndenumerate(values):
        if np.isfinite(value):
            colour = "white" if value <= middle else "black"
            axes.text(column, row, f"{value:.1f}", ha="center", va="center", color=colour, size=6)
    row, column = grid.div.index(adopted[0]), grid.ood.index(adopted[1])
    box = Rectangle((column - 0.5, row - 0.5), 1, 1, fill=False, ec=OOD, lw=1.8, clip_on=False)
    axes.add_patch(box)
    axes.set_xticks(range(len(grid.ood)), [f"{value:g}" for value in grid.ood])
    axes.set_yticks(range(len(grid.div)), [f"{value:g}" for value in grid.div])
    axes.set(xlabel="lambda_ood", ylabel="lambda_div", title=title)
    axes.grid(False)


def _scatter(axes: Axes, grid: Grid, score: Floats, purity: Floats) -> None:
    div, ood = np.indices(score.shape)
    colours = ood / max(1, len(grid.ood) - 1)
    axes.scatter(purity, score, s=12 + 16 * div, c=colours, cmap="cividis", lw=0.3, ec="white")
    front = pareto_front(purity.ravel(), score.ravel())
    axes.plot(purity.ravel()[front], score.ravel()[front], "--", color=OOD, lw=0.9, zorder=1)


def pareto_front(x: Floats, y: Floats) -> list[int]:
    """Places of the points that no other is above and right of, from left to right."""
    places = [int(i) for i in np.argsort(-x) if np.isfinite(x[i]) and np.isfinite(y[i])]
    front: list[int] = []
    for place in places:
        if not front or y[place] > y[front[-1]]:
            front.append(place)
    return front[::-1]
