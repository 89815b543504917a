"""What each component is worth: the variants of one strategy, score against ID purity."""

from typing import Any, Final

from matplotlib.figure import Figure

from fidal.report.comparing import final_round, reference
from fidal.report.figures.lambda_grid import LAMBDAS, grid_of
from fidal.report.frame import Study
from fidal.report.labels import varying
from fidal.report.style import OOD, TWO_COLUMNS, figure, in_turn, looks, mark, styled, tag

TITLE: Final = "Ablation"
CAPTION: Final = (
    "Variants of one strategy at the last round, score against ID purity, ± one standard deviation "
    "over seeds. Each departs from the adopted one (red circle) in the one field that is named. "
    "Top right is best."
)


@styled
def draw(study: Study) -> Figure | None:
    """One point per variant of the reference; None if there is only one."""
    base = reference(study)
    others = arms(study)
    if not others:
        return None
    made = figure(TWO_COLUMNS, 3.2)
    axes = made.add_subplot()
    for method, look in {**looks([base]), **in_turn(others)}.items():
        round = final_round(study, method)
        x = study.spread(method, "purity", round)
        y = study.spread(method, study.score(), round)
        bars = axes.errorbar(
            [100 * x.mean],
            [100 * y.mean],
            xerr=[100 * x.std],
            yerr=[100 * y.std],
            label=text_of(method),
            elinewidth=0.7,
            zorder=4 if method == base else 3,
            **mark(look, 1.7),
        )
        for artist in bars.get_children():
            tag(artist, study.strategy(method))
        if method == base:
            axes.plot(100 * x.mean, 100 * y.mean, "o", ms=13, mfc="none", mec=OOD, mew=1.2)
    axes.margins(0.12)
    axes.set_xlabel("ID purity (%)")
    axes.set_ylabel(f"{study.score_name} (%)")
    made.legend(loc="outside right upper")
    return made


def arms(study: Study) -> list[str]:
    """The reference's variants that depart from it in one field. Of a grid of the two weights,
    which has its own figure, only those that switch a weight off, and only beside others."""
    base = reference(study)
    configs: dict[str, Any] = {run.method: run.config["strategy"] for run in study.runs}
    grid = grid_of(study)
    cells = set(grid.method.values()) if grid else set()
    found = []
    for method in study.methods:
        if method == base or study.strategy(method) != study.strategy(base):
            continue
        departures = varying([configs[method], configs[base]])
        off = any(configs[method].get(weight) == 0 for weight in LAMBDAS)
        if len(departures) == 1 and (method not in cells or off):
            found.append(method)
    return found if set(found) - cells else []


def text_of(method: str) -> str:
    """The field in which a variant departs from the adopted one."""
    return method.partition(" (")[2].removesuffix(")") or "adopted"
