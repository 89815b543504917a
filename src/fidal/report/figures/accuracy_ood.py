"""Accuracy against OOD queried: what each method attained, and what it wasted on the way."""

from typing import Final

from matplotlib.figure import Figure

from fidal.report.comparing import best_round
from fidal.report.figures.legend import legend_below, who
from fidal.report.frame import Study
from fidal.report.style import ONE_COLUMN, figure, mark, styled, tag

TITLE: Final = "Accuracy against OOD queried"
CAPTION: Final = (
    "Each method at its best round (in brackets): its score against all OOD images it sent to an "
    "expert up to there, sites summed; mean ± standard deviation over seeds. Top left is best. "
    "Methods peak at different rounds, so the counts span different budgets; the annotation cost "
    "compares at one matched round."
)


@styled
def draw(study: Study) -> Figure:
    """One point with error bars per method."""
    made = figure(ONE_COLUMN, 3.0)
    axes = made.add_subplot()
    for method, look in who(study).items():
        round = best_round(study, method)
        score = study.spread(method, study.score(), round)
        outliers = study.spread(method, "outliers", round)
        bars = axes.errorbar(
            [outliers.mean],
            [100 * score.mean],
            xerr=[[outliers.std], [outliers.std]],
            yerr=[[100 * score.std], [100 * score.std]],
            label=f"{look.label} (R{round})",
            elinewidth=0.7,
            capsize=1.5,
            zorder=4 if look.marker == "*" else 3,
            **mark(look, 1.6),
        )
        for artist in bars.get_children():
            tag(artist, study.strategy(method))
    axes.set_xlabel("OOD images queried (fewer is better)")
    axes.set_ylabel(f"{study.score_name} (%)")
    axes.set_xlim(left=0)
    axes.margins(0.12)
    legend_below(made, [(axes, study)], 3)
    return made
