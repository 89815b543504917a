"""Every rule of the gate at the first query: what it would have caught and lost, site by site."""

from collections.abc import Mapping
from typing import Final

import numpy as np

from fidal.report.frame import Study
from fidal.report.gate_study import RULES, GateStudy
from fidal.report.paper import quoted
from fidal.report.spread import Spread
from fidal.report.tables.table import Column, Line, Table

RULE_NAMES: Final[Mapping[str, str]] = {
    "otsu": "Otsu",
    "guarded-otsu": "Otsu, guarded",
    "percentile": "Percentile 20",
    "gmm": "GMM",
    "kde-valley": "KDE valley",
    "known-null": "Known null",
}
CAUGHT, LOST = "OOD caught (%)", "ID lost (%)"


def gate_rules(study: Study, gate: GateStudy | None) -> Table | None:
    """Per rule its mean over sites, then each site; None without the sites' own files."""
    if gate is None:
        return None
    sites = [ruling.site for ruling in gate.of(gate.deployed)]
    lines = [_line(gate, rule) for rule in RULES]
    caught, lost = quoted(study.benchmark, CAUGHT), quoted(study.benchmark, LOST)
    for rule in caught:
        cells = (f"{name_of(rule)}, in the paper", caught[rule] / 100, lost[rule] / 100)
        lines.append(Line((*cells, *["–"] * (2 * len(sites))), ranked=False))
    return Table(
        name="gate-rules",
        title="The gate’s rules compared",
        caption=(
            f"{study.name}, first query after the warm-up, first seed, density {gate.density}: the "
            f"share of the pool’s OOD and ID that each rule would refuse ({gate.deployed} was "
            "deployed). Mean over sites, then each site. Only a benchmark knows this; percentile "
            "refuses the lowest 20 % whatever they are."
            + (" In the paper: its section 4.4, on its own images and encoder." if caught else "")
        ),
        columns=(
            Column("Rule"),
            Column(CAUGHT, "high", 100),
            Column(LOST, "low", 100),
            *(Column(f"{site}: {what}", scale=100) for site in sites for what in (CAUGHT, LOST)),
        ),
        lines=tuple(lines),
    )


def name_of(rule: str) -> str:
    """A rule that is not known here goes by its own name."""
    return RULE_NAMES.get(rule, rule)


def _line(gate: GateStudy, rule: str) -> Line:
    rulings = gate.of(rule)
    caught = Spread.over(np.array([ruling.caught for ruling in rulings])).mean
    lost = Spread.over(np.array([ruling.lost for ruling in rulings])).mean
    each = [number for ruling in rulings for number in (ruling.caught, ruling.lost)]
    return Line((name_of(rule), caught, lost, *each))
