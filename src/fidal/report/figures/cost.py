"""Annotation cost: what every method spent on OOD at one matched round."""

from typing import Final

from matplotlib.figure import Figure

from fidal.report.comparing import best_round, reference
from fidal.report.figures.legend import who
from fidal.report.frame import Study
from fidal.report.style import GREY, ONE_COLUMN, figure, styled, tag
from fidal.report.tables.cost import READING_SECONDS, hours, is_matched

TITLE: Final = "Annotation cost"
CAPTION: Final = (
    "OOD images sent to an expert up to the reference’s best round, all sites together, mean ± "
    "standard deviation over seeds, and the hours they cost at {seconds:g} s an image. "
    "Pale: methods whose score is more than 3 points lower; few OOD bought with accuracy are no "
    "saving. The reading time was measured in mammography and is a scale, not a promise."
)


@styled
def draw(study: Study, seconds: float = READING_SECONDS) -> Figure:
    """One bar per method, with its ratio to the reference."""
    base = reference(study)
    round = best_round(study, base)
    asked = study.spread(base, "outliers", round).mean
    made = figure(ONE_COLUMN, 0.75 + 0.24 * len(study.main))
    axes = made.add_subplot()
    styles = who(study)
    longest = max(study.spread(m, "outliers", round).mean for m in study.main)
    for row, method in enumerate(study.main):
        spread = study.spread(method, "outliers", round)
        matched = is_matched(study, method, round)
        bars = axes.barh(
            row,
            spread.mean,
            xerr=spread.std,
            height=0.7,
            color=styles[method].colour,
            alpha=1 if matched else 0.35,
            error_kw={"elinewidth": 0.7, "capsize": 1.5},
        )
        ratio = f" · {spread.mean / asked:.1f}×" if method != base and matched and asked else ""
        text = axes.text(
            spread.mean + (spread.std if spread.seeds > 1 else 0) + 0.04 * longest,
            row,
            f"{spread.mean:,.0f} · {hours(spread.mean, seconds):.1f} h{ratio}",
            va="center",
            fontsize=6,
            color="black" if matched else GREY,
        )
        for artist in (*bars, text):
            tag(artist, study.strategy(method))
    axes.set_yticks(range(len(study.main)), [styles[m].label for m in study.main])
    axes.set_ylim(len(study.main) - 0.4, -0.6)
    axes.grid(axis="y", visible=False)
    axes.set_xlim(0, 1.65 * longest if longest > 0 else 1)
    axes.set_xlabel(f"OOD images queried up to R{round}")
    return made
