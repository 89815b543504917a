"""What an expert's time was spent on: OOD queried at one matched round, and hours."""

from typing import Final

from fidal.report.comparing import best_round, reference
from fidal.report.frame import Study
from fidal.report.paper import quoted
from fidal.report.style import label
from fidal.report.tables.table import Column, Line, Table, Value

MATCHED_OUTLIERS: Final = "outliers at the matched round"
MATCHED: Final = 0.03
"""A rival is accuracy-matched if its score is at most so far below the reference's."""
READING_SECONDS: Final = 59.0
"""Per image; the mammography reading time that the paper counts with (Partridge et al. 2024)."""


def hours(images: float, seconds: float = READING_SECONDS) -> float:
    """Of an expert's time."""
    return images * seconds / 3600


def is_matched(study: Study, method: str, round: int) -> bool:
    """Not bought with accuracy: a method that learns nothing may well ask for few outliers."""
    ours = study.spread(reference(study), study.score(), round).mean
    return study.spread(method, study.score(), round).mean >= ours - MATCHED


def cost(study: Study, seconds: float = READING_SECONDS) -> Table:
    """All methods at the best round of the reference, as in the paper's section 4.3."""
    base = reference(study)
    round = best_round(study, base)
    score = study.spread(base, study.score(), round).mean
    asked = study.spread(base, "outliers", round).mean
    theirs = quoted(study.benchmark, MATCHED_OUTLIERS)
    lines = []
    for method in study.main:
        own = study.spread(method, study.score(), round)
        outliers = study.spread(method, "outliers", round)
        more = hours(outliers.mean - asked, seconds)
        ratio: Value = "–"
        if method != base:
            matched = is_matched(study, method, round) and asked > 0
            ratio = outliers.mean / asked if matched else "not matched"
        strategy = study.strategy(method)
        paper: list[Value] = [theirs.get(strategy.removesuffix("-paper"), "–")] if theirs else []
        gap = 100 * (own.mean - score)
        cells = (label(method), own, gap, outliers, outliers, more, ratio, *paper)
        lines.append(Line(cells, strategy))
    return Table(
        name="annotation-cost",
        title="Annotation cost",
        caption=(
            f"{study.name}, every method at round {round}, the best of {label(base)}. Hours are "
            f"OOD images times {seconds:g} s, a reading time measured in mammography: an expert "
            "may wave a foreign image away faster, or need longer, so read them as a scale and "
            f"not as a promise. The OOD ratio is how many times more OOD than {label(base)} a "
            f"method asked for; it is given only for methods whose score is at most "
            f"{100 * MATCHED:g} points lower, because few OOD bought with accuracy are no saving."
            + (" In the paper: the counts that its section 4.3 names." if theirs else "")
        ),
        columns=(
            Column("Method"),
            Column(f"{study.score_name} (%)", "high", 100),
            Column("Gap (points)"),
            Column("OOD queried", "low", digits=0),
            Column("Hours on OOD", "low", seconds / 3600),
            Column(f"Hours more than {label(base)}"),
            Column("OOD ratio"),
            *([Column("In the paper: OOD queried", digits=0)] if theirs else []),
        ),
        lines=tuple(lines),
    )
