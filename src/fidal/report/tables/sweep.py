"""Tables S3 to S5 of the paper: one benchmark under varied budgets and local epochs."""

from collections.abc import Sequence
from typing import Final

from fidal.report.comparing import average
from fidal.report.frame import Study
from fidal.report.paper import At, Cell, find, setting_of
from fidal.report.style import label, ordered
from fidal.report.tables.headline import CAPTIONS, ROUND, SPREAD
from fidal.report.tables.side_by_side import pair
from fidal.report.tables.table import Column, Line, Table, Value
from fidal.report.variations import Variation

NUMBERS: Final = ("score", "ID purity")
SETTINGS: Final = 7
"""Distinct pairs of budget and epochs in each of the paper's tables."""


def sweep(variations: Sequence[Variation], at: At) -> Table:
    """Two lines per method: score and ID purity. A cell that two variations share stands in both
    and counts once in the average."""
    distinct = list(dict.fromkeys(study for line in variations for study in line.studies))
    shown = [study for line in variations for study in line.studies]
    methods = ordered({method for study in distinct for method in study.main})
    lines = []
    for method in methods:
        strategy = method.split(" (")[0]
        lines += _ours(shown, distinct, method, strategy, at)
        lines += _in_the_paper(shown, strategy, at)
    paper = any(not line.ranked for line in lines)
    fields = "; ".join(line.name for line in variations)
    return Table(
        name=f"{at}-round",
        title=f"Sweeps at the {at} round",
        caption=(
            f"{distinct[0].benchmark}, varied: {fields}. {CAPTIONS[at]}{SPREAD} The average is "
            f"over the {len(distinct)} distinct settings."
            + (' Lines "in the paper": its Tables 1 and S3 to S5, not ranked.' if paper else "")
        ),
        columns=(
            Column("Method"),
            Column("Number (%)"),
            *(
                Column(name, "high", 100)
                for line in variations
                for name in titles(line, variations)
            ),
            Column("Average", "high", 100),
        ),
        lines=tuple(lines),
    )


def titles(line: Variation, lines: Sequence[Variation]) -> list[str]:
    """`budget=50`; and at what the rest stands, where the same field is varied more than once."""
    several = sum(other.field == line.field for other in lines) > 1
    return [f"{title} ({line.fixed})" if several else title for title in line.titles]


def _ours(
    shown: Sequence[Study], distinct: Sequence[Study], method: str, strategy: str, at: At
) -> list[Line]:
    pairs = [pair(study, method, at) for study in shown]
    averages = [
        average(distinct, method, lambda s: s.score(), ROUND[at]),
        average(distinct, method, lambda _: "purity", ROUND[at]),
    ]
    return [
        Line((label(method), name, *(pair[i] for pair in pairs), averages[i]), strategy, name)
        for i, name in enumerate(NUMBERS)
    ]


def _in_the_paper(shown: Sequence[Study], strategy: str, at: At) -> list[Line]:
    name = strategy.removesuffix("-paper")
    found = [find(study.benchmark, name, setting_of(study), at) for study in shown]
    if not any(found):
        return []
    who = f"{label(name)}, in the paper"
    whole = _average(shown[0].benchmark, name, found, at)
    scores: list[Value] = [cell.score if cell else "–" for cell in (*found, whole)]
    purities: list[Value] = [cell.purity if cell else "–" for cell in (*found, whole)]
    return [
        Line((who, number, *cells), strategy, number, ranked=False)
        for number, cells in zip(NUMBERS, (scores, purities), strict=True)
    ]


def _average(benchmark: str, name: str, found: Sequence[Cell | None], at: At) -> Cell | None:
    """The paper's own average is of its seven settings, so it needs all of them beside it."""
    distinct = {cell.setting for cell in found if cell}
    return find(benchmark, name, None, at) if len(distinct) == SETTINGS and all(found) else None
