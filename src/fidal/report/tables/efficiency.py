"""What the whole budget bought, not only its end: area under the curve, gain per expert hour."""

import numpy as np

from fidal.report.comparing import area
from fidal.report.frame import Study
from fidal.report.spread import Spread
from fidal.report.style import label
from fidal.report.tables.cost import READING_SECONDS
from fidal.report.tables.table import Column, Line, Table


def efficiency(study: Study, seconds: float = READING_SECONDS) -> Table:
    """Per method, over all rounds."""
    lines = []
    for method in study.main:
        cells = (label(method), area(study, method), gain_per_hour(study, method, seconds))
        lines.append(Line(cells, study.strategy(method)))
    return Table(
        name="budget-curve",
        title="The whole budget curve",
        caption=(
            f"{study.name}. Mean score: area under the score against the images looked at, divided "
            "by its width, so that a method which learns early is not judged by its end alone. "
            f"Gain per hour: points of score gained from R0 to R{study.rounds[-1]} per hour of "
            f"expert time at {seconds:g} s an image, ID and OOD alike."
        ),
        columns=(
            Column("Method"),
            Column("Mean score (%)", "high", 100),
            Column("Points gained per expert hour", "high", 100, digits=2),
        ),
        lines=tuple(lines),
    )


def gain_per_hour(study: Study, method: str, seconds: float) -> Spread:
    """From the warm-up to the last round."""
    score = study.values(method, study.score())
    seen = study.values(method, "labelled") + study.values(method, "outliers")
    hours = (seen[:, -1] - seen[:, 0]) * seconds / 3600
    with np.errstate(invalid="ignore", divide="ignore"):
        gain = (score[:, -1] - score[:, 0]) / hours
    return Spread.over(np.where(hours > 0, gain, np.nan))
