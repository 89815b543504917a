"""Table 1 of the paper as printed: all benchmarks side by side, and the average over them."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from fidal.report.comparing import average
from fidal.report.frame import Study
from fidal.report.paper import At, find, headline_setting
from fidal.report.spread import Spread
from fidal.report.style import label, ordered
from fidal.report.tables.headline import CAPTIONS, ROUND, SPREAD
from fidal.report.tables.table import Column, Line, Table, Value

PAPER = (
    ' Lines "in the paper": its Tables 1 and S5, on its own images, networks and encoders; a '
    "reference, not ranked."
)


def side_by_side(studies: Sequence[Study], at: At) -> Table:
    """One study per benchmark. A method's average is over all of them; it has none where one of
    them lacks it."""
    columns = [Column("Method")]
    for name in [*(study.benchmark for study in studies), "Average"]:
        columns += [
            Column(f"{name}: score (%)", "high", 100, digits=2),
            Column(f"{name}: ID purity (%)", "high", 100),
        ]
    methods = ordered({method for study in studies for method in study.main})
    lines = [line for method in methods for line in _lines(studies, method, at)]
    lines += _in_the_paper(studies, "supervised", at)
    note = PAPER if any(not line.ranked for line in lines) else ""
    return Table(
        name=f"{at}-round",
        title=f"Side by side at the {at} round",
        caption="; ".join(study.name for study in studies) + ". " + CAPTIONS[at] + SPREAD + note,
        columns=tuple(columns),
        lines=tuple(lines),
    )


def _lines(studies: Sequence[Study], method: str, at: At) -> list[Line]:
    strategy = method.split(" (")[0]
    cells: list[Value] = [label(method)]
    for study in studies:
        cells += pair(study, method, at)
    cells += [average(studies, method, lambda s: s.score(), ROUND[at])]
    cells += [average(studies, method, lambda _: "purity", ROUND[at])]
    return [Line(tuple(cells), strategy), *_in_the_paper(studies, strategy, at)]


def pair(study: Study, method: str, at: At) -> tuple[Spread, Spread]:
    """Score, with its round if that is the method's own, and ID purity."""
    if method not in study.methods:
        nothing = Spread.over(np.full(len(study.seeds), np.nan))
        return nothing, nothing
    round = ROUND[at](study, method)
    score, purity = (study.spread(method, key, round) for key in (study.score(), "purity"))
    return (replace(score, round=round) if at == "best" else score), purity


def _in_the_paper(studies: Sequence[Study], strategy: str, at: At) -> list[Line]:
    name = strategy.removesuffix("-paper")
    found = [find(s.benchmark, name, headline_setting(s.benchmark), at) for s in studies]
    if not any(found):
        return []
    cells: list[Value] = []
    for cell in found:
        cells += [cell.score, cell.purity] if cell else ["–", "–"]
    whole = find("average", name, None, at) if len(studies) == 3 and all(found) else None
    cells += [whole.score, whole.purity] if whole else ["–", "–"]
    who = "Fully supervised" if name == "supervised" else label(name)
    return [Line((f"{who}, in the paper", *cells), strategy, ranked=False)]
