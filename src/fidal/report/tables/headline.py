"""Table 1 of the paper: score and ID purity at each method's best round, and its honest twin."""

from collections.abc import Callable, Mapping, Sequence
from typing import Final, Literal

import numpy as np

from fidal.report.comparing import best_round, final_round
from fidal.report.frame import Study
from fidal.report.spread import Spread
from fidal.report.style import label, ordered
from fidal.report.tables.table import Column, Line, Table, Value

At = Literal["best", "final"]
ROUND: Final[Mapping[At, Callable[[Study, str], int]]] = {
    "best": best_round,
    "final": final_round,
}
CAPTIONS: Final[Mapping[At, str]] = {
    "best": "Each method at the round where its mean score over seeds is highest. That round is "
    "chosen on the test images, as in the paper, and flatters every method; the table of the final "
    "round does not.",
    "final": "All methods at the last round of the study.",
}
SPREAD: Final = (
    " Mean ± standard deviation over seeds, in percent; ID purity is the share of everything an "
    "expert looked at so far, warm-up included, that belonged. Best in bold, second underlined."
)


def headline(study: Study, at: At, methods: Sequence[str] = ()) -> Table:
    """One study, one line per method: every reading of the score, purity, OOD queried."""
    keys = [f"{measure}_{how}" for measure in _measures(study) for how in ("pooled", "mean")]
    columns = (
        Column("Method"),
        Column("Round"),
        *(Column(_READINGS[key], "high", 100) for key in keys),
        Column("ID purity (%)", "high", 100),
        Column("OOD queried", "low", digits=0),
    )
    lines = []
    for method in methods or study.main:
        round = ROUND[at](study, method)
        numbers = [study.spread(method, key, round) for key in (*keys, "purity", "outliers")]
        lines.append(Line((label(method), f"R{round}", *numbers), study.strategy(method)))
    which = "best round" if at == "best" else "final round"
    return Table(
        name=f"{at}-round",
        title=f"Results at {'each method’s best' if at == 'best' else 'the final'} round",
        caption=f"{study.name}, {which}. {CAPTIONS[at]}{SPREAD}",
        columns=columns,
        lines=tuple(lines),
    )


_READINGS: Final = {
    "bma_pooled": "BMA, pooled (%)",
    "bma_mean": "BMA, mean of sites (%)",
    "accuracy_pooled": "Accuracy, pooled (%)",
    "accuracy_mean": "Accuracy, mean of sites (%)",
}


def _measures(study: Study) -> tuple[str, ...]:
    return ("accuracy", "bma") if study.measure == "accuracy" else ("bma", "accuracy")


def across(studies: Sequence[Study], at: At) -> Table:
    """Table 1 and S3-S5 as printed: a pair of columns per study, and the average over studies.

    A method's average is over all studies; it has none where one of them lacks it.
    """
    methods = ordered({method for study in studies for method in study.main})
    same = len({study.benchmark for study in studies}) == 1
    names = [study.setting if same else study.name for study in studies]
    columns = [Column("Method")]
    for name in [*names, "Average"]:
        columns += [
            Column(f"{name}: score (%)", "high", 100),
            Column(f"{name}: ID purity (%)", "high", 100),
        ]
    lines = []
    for method in methods:
        pairs = [_pair(study, method, at) for study in studies]
        cells: list[Value] = [value for pair in pairs for value in pair]
        cells += [_average([pair[i] for pair in pairs]) for i in (0, 1)]
        strategy = method.split(" (")[0]
        lines.append(Line((label(method), *cells), strategy))
    return Table(
        name=f"{at}-round",
        title=f"Side by side at the {at} round",
        caption=CAPTIONS[at] + SPREAD,
        columns=tuple(columns),
        lines=tuple(lines),
    )


def _pair(study: Study, method: str, at: At) -> list[Spread]:
    if method not in study.methods:
        return [Spread.over(np.full(len(study.seeds), np.nan))] * 2
    round = ROUND[at](study, method)
    return [study.spread(method, key, round) for key in (study.score(), "purity")]


def _average(spreads: Sequence[Spread]) -> float:
    return float(np.mean([spread.mean for spread in spreads]))
