"""Numbers that compare methods: best round, paired differences over seeds, area under a curve."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
from scipy import stats
from scipy.integrate import trapezoid

from fidal.report.frame import Study
from fidal.report.spread import Floats, Spread

RoundOf = Callable[[Study, str], int]
"""Which round of a method is looked at."""
Key = Callable[[Study], str]
"""Which field of a study's rows."""

REFERENCE: Final = "fidal"
CONFIDENCE: Final = 0.95


def best_round(study: Study, method: str) -> int:
    """Where the mean score is highest, among the queried rounds that all of the method's seeds
    have; the warm-up, which is no method's, only where there is nothing else.

    It is chosen on the test images, as in the paper; the final round is not.
    """
    curve = study.curve(method, study.score())
    queried = list(study.rounds[1:]) or [0]
    seeds = max(curve[round].seeds for round in queried)
    there = [round for round in queried if curve[round].seeds == seeds > 0]
    return max(there, key=lambda round: curve[round].mean) if there else queried[0]


def final_round(study: Study, method: str) -> int:
    """The last round of the study, the same for every method."""
    return study.rounds[-1]


def reference(study: Study) -> str:
    """The method all others are compared with: FIDAL, or the best of the last round without it."""
    for method in study.main:
        if study.strategy(method) == REFERENCE:
            return method
    return rank(study, study.main)[0]


def rivals(study: Study) -> list[str]:
    """Whom the reference is measured against: all but its own readings, if there are such."""
    base = reference(study)
    others = [method for method in study.main if method != base]
    return [m for m in others if not study.strategy(m).startswith(REFERENCE)] or others


def average(studies: Sequence[Study], method: str, key: Key, at: RoundOf) -> Spread:
    """Over studies, seed by seed: a seed that one of them lacks is missing in the average too."""
    seeds = sorted({seed for study in studies for seed in study.seeds})
    each = np.full((len(studies), len(seeds)), np.nan)
    for row, study in enumerate(studies):
        if method in study.methods:
            places = [seeds.index(seed) for seed in study.seeds]
            each[row, places] = study.values(method, key(study))[:, at(study, method)]
    return Spread.over(each.mean(0))


def rank(study: Study, methods: Sequence[str]) -> list[str]:
    """By the mean score of the last round, the best first; those without a score at the end."""
    last = study.rounds[-1]
    means = {method: study.spread(method, study.score(), last).mean for method in methods}
    return sorted(methods, key=lambda m: -means[m] if math.isfinite(means[m]) else math.inf)


@dataclass(frozen=True)
class Difference:
    """Of two methods over the seeds that both have."""

    mean: float
    low: float
    high: float
    """Bounds of the 95 % confidence interval of the mean; NaN below two pairs."""
    p: float
    """Two-sided paired t-test; NaN below two pairs."""
    pairs: int


def difference(ours: Floats, theirs: Floats) -> Difference:
    """In: one value per seed of each, NaN where there is none. Out: ours minus theirs."""
    gaps = (ours - theirs)[np.isfinite(ours - theirs)]
    n = len(gaps)
    if n == 0:
        return Difference(math.nan, math.nan, math.nan, math.nan, 0)
    mean = float(gaps.mean())
    if n == 1:
        return Difference(mean, math.nan, math.nan, math.nan, 1)
    error = float(gaps.std(ddof=1)) / math.sqrt(n)
    if error <= 1e-12 * abs(mean):  # one and the same gap in every pair
        return Difference(mean, mean, mean, 1.0 if mean == 0 else 0.0, n)
    half = float(stats.t.ppf(0.5 + CONFIDENCE / 2, n - 1)) * error
    p = float(stats.ttest_1samp(gaps, 0.0).pvalue)
    return Difference(mean, mean - half, mean + half, p, n)


def holm(values: Sequence[float]) -> list[float]:
    """p-values corrected for having looked so many times (Holm 1979); NaN stay NaN."""
    order = [i for i in np.argsort(values) if math.isfinite(values[i])]
    corrected = [math.nan] * len(values)
    highest = 0.0
    for rank, index in enumerate(order):
        highest = max(highest, min(1.0, (len(order) - rank) * values[index]))
        corrected[index] = highest
    return corrected


def area(study: Study, method: str) -> Spread:
    """Mean score over the budget: area under score against images looked at, over its width."""
    score = study.values(method, study.score())
    seen = study.values(method, "labelled") + study.values(method, "outliers")
    width = seen[:, -1] - seen[:, 0]
    with np.errstate(invalid="ignore", divide="ignore"):
        mean = trapezoid(score, seen, axis=1) / width
    return Spread.over(np.where(width > 0, mean, np.nan))
