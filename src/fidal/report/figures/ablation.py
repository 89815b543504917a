"""What each component is worth: the variants of one strategy, score against ID purity."""

from typing import Final

from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from fidal.report.comparing import final_round, reference
from fidal.report.figures.lambda_grid import grid_of
from fidal.report.frame import Study
from fidal.report.style import GREY, ID, OOD, TWO_COLUMNS, figure, styled, tag

TITLE: Final = "Ablation"
CAPTION: Final = (
    "Variants of one strategy at the last round, score against ID purity, ± one standard deviation "
    "over seeds. Each is named by the fields in which it departs from the adopted one (red "
    "circle). Top right is best."
)


@styled
def draw(study: Study) -> Figure | None:
    """One point per variant of the reference; None if there is one only, or a lambda grid."""
    base = reference(study)
    strategy = study.strategy(base)
    variants = [method for method in study.methods if study.strategy(method) == strategy]
    if len(variants) < 2 or grid_of(study):
        return None
    made = figure(TWO_COLUMNS, 3.2)
    axes = made.add_subplot()
    handles = []
    for number, method in enumerate(variants):
        round = final_round(study, method)
        x = study.spread(method, "purity", round)
        y = study.spread(method, study.score(), round)
        adopted = method == base
        handles.append(
            Line2D(
                [],
                [],
                color=GREY,
                marker=f"${number + 1}$",
                mew=0,
                ms=4,
                ls="none",
                label=text_of(method),
            )
        )
        bars = axes.errorbar(
            [100 * x.mean],
            [100 * y.mean],
            xerr=[100 * x.std],
            yerr=[100 * y.std],
            fmt="o",
            color=ID if adopted else GREY,
            ms=5,
            elinewidth=0.7,
            zorder=3,
        )
        if adopted:
            axes.plot(100 * x.mean, 100 * y.mean, "o", ms=11, mfc="none", mec=OOD, mew=1.3)
        text = axes.annotate(
            str(number + 1),
            (100 * x.mean, 100 * y.mean),
            xytext=(5, 5),
            textcoords="offset points",
        )
        for artist in (*bars.get_children(), text):
            tag(artist, strategy)
    axes.margins(0.12)
    axes.set_xlabel("ID purity (%)")
    axes.set_ylabel(f"{study.score_name} (%)")
    made.legend(handles=handles, loc="outside right upper")
    return made


def text_of(method: str) -> str:
    """The fields in which a variant departs from the adopted one."""
    return method.partition(" (")[2].removesuffix(")") or "adopted"
