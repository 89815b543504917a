"""Sensitivity to lambda_div and lambda_ood: heat maps of the grid, and its Pareto scatter."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from matplotlib import colormaps
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Rectangle

from fidal.report.comparing import final_round, reference
from fidal.report.frame import Study
from fidal.report.spread import Floats
from fidal.report.style import GREY, OOD, TWO_COLUMNS, figure, panels, styled

TITLE: Final = "Sensitivity to the two weights"
CAPTION: Final = (
    "Score and ID purity (%) at the last round for every pair of the weights of diversity and of "
    "the OOD penalty, mean over seeds; the red box marks the adopted pair. Right: the same cells "
    "as points, the adopted one in a red circle, and the line of those that no other beats in both."
)
LAMBDAS: Final = ("lambda_div", "lambda_ood")
DIV, OOD_WEIGHT = r"$\lambda_{\mathrm{div}}$", r"$\lambda_{\mathrm{OOD}}$"


@dataclass(frozen=True)
class Grid:
    """The variants that differ in the two weights only, by their values."""

    div: tuple[float, ...]
    ood: tuple[float, ...]
    method: Mapping[tuple[float, float], str]


def grid_of(study: Study) -> Grid | None:
    """None unless the reference ran with at least two values of each weight, all else equal."""
    base = reference(study)
    configs: dict[str, Any] = {run.method: run.config["strategy"] for run in study.runs}
    rest = _rest(configs[base])
    cells = {
        tuple(float(fields[weight]) for weight in LAMBDAS): method
        for method, fields in configs.items()
        if all(weight in fields for weight in LAMBDAS) and _rest(fields) == rest
    }
    div, ood = (tuple(sorted({pair[i] for pair in cells})) for i in (0, 1))
    if len(div) < 2 or len(ood) < 2 or len(cells) <= len(div) + len(ood) - 1:
        return None  # a cross through the adopted pair is an ablation
    return Grid(div, ood, {(pair[0], pair[1]): method for pair, method in cells.items()})


def _rest(fields: Mapping[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in fields.items() if key not in LAMBDAS}


@styled
def draw(study: Study) -> Figure | None:
    """Two heat maps and a scatter."""
    grid = grid_of(study)
    if grid is None:
        return None
    score, purity = _values(study, grid, study.score()), _values(study, grid, "purity")
    made = figure(TWO_COLUMNS, 2.8)
    left, middle, right = panels(made, 1, 3, 3)
    adopted = next(pair for pair, method in grid.method.items() if method == reference(study))
    place = grid.div.index(adopted[0]), grid.ood.index(adopted[1])
    _heat(left, grid, score, place, f"{study.score_name} (%)")
    _heat(middle, grid, purity, place, "ID purity (%)")
    _scatter(right, grid, score, purity, place)
    right.set(xlabel="ID purity (%)", ylabel=f"{study.score_name} (%)")
    made.legend(handles=_legend(grid), loc="outside lower right", ncols=1 + _longest(grid))
    return made


def _values(study: Study, grid: Grid, key: str) -> Floats:
    """In percent, div x ood; NaN where a cell was not run."""
    values = np.full((len(grid.div), len(grid.ood)), np.nan)
    for (div, ood), method in grid.method.items():
        spread = study.spread(method, key, final_round(study, method))
        values[grid.div.index(div), grid.ood.index(ood)] = 100 * spread.mean
    return values


def _heat(axes: Axes, grid: Grid, values: Floats, place: tuple[int, int], title: str) -> None:
    axes.imshow(values, cmap="cividis", aspect="auto", origin="lower")
    middle = (np.nanmin(values) + np.nanmax(values)) / 2
    for (row, column), value in np.ndenumerate(values):
        if np.isfinite(value):
            colour = "white" if value <= middle else "black"
            axes.text(column, row, f"{value:.1f}", ha="center", va="center", color=colour, size=6)
    row, column = place
    box = Rectangle((column - 0.5, row - 0.5), 1, 1, fill=False, ec=OOD, lw=1.8, clip_on=False)
    axes.add_patch(box)
    axes.set_xticks(range(len(grid.ood)), [f"{value:g}" for value in grid.ood])
    axes.set_yticks(range(len(grid.div)), [f"{value:g}" for value in grid.div])
    axes.set(xlabel=OOD_WEIGHT, ylabel=DIV, title=title)
    axes.grid(False)


def _scatter(axes: Axes, grid: Grid, score: Floats, purity: Floats, place: tuple[int, int]) -> None:
    for (row, column), value in np.ndenumerate(score):
        axes.plot(purity[row, column], value, ls="none", zorder=3, **_point(grid, row, column))
    axes.plot(purity[place], score[place], "o", ms=11, mfc="none", mec=OOD, mew=1.2, zorder=4)
    front = pareto_front(purity.ravel(), score.ravel())
    axes.plot(purity.ravel()[front], score.ravel()[front], "--", color=OOD, lw=0.9, zorder=2)
    axes.margins(0.1)


def _point(grid: Grid, div: int, ood: int | None) -> dict[str, Any]:
    """Size by the weight of diversity, colour by that of the penalty."""
    colour = GREY if ood is None else colormaps["cividis"](ood / max(1, len(grid.ood) - 1))
    return {"marker": "o", "ms": 2.5 + div, "mfc": colour, "mec": GREY, "mew": 0.4}


def _legend(grid: Grid) -> list[Artist]:
    """Two rows, of colours and of sizes; a legend is filled column by column."""
    handles: list[Artist] = [Line2D([], [], ls="none", label=name) for name in (OOD_WEIGHT, DIV)]
    for i in range(_longest(grid)):
        for values, point in ((grid.ood, (1, i)), (grid.div, (i, None))):
            there = i < len(values)
            look = _point(grid, *point) if there else {}
            text = f"{values[i]:g}" if there else ""
            handles.append(Line2D([], [], ls="none", label=text, **look))
    return handles


def _longest(grid: Grid) -> int:
    return max(len(grid.div), len(grid.ood))


def pareto_front(x: Floats, y: Floats) -> list[int]:
    """Places of the points that no other is above and right of, from left to right."""
    order = np.lexsort((-y, -x))  # of points with the same x the highest first
    places = [int(i) for i in order if np.isfinite(x[i]) and np.isfinite(y[i])]
    front: list[int] = []
    for place in places:
        if not front or y[place] > y[front[-1]]:
            front.append(place)
    return front[::-1]
