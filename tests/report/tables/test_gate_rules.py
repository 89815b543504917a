from dataclasses import replace

import numpy as np
import pytest

from fidal.report.frame import Study
from fidal.report.gate_study import RULES, GateStudy, Ruling
from fidal.report.tables.gate_rules import gate_rules, name_of

NAN = float("nan")
GATE = GateStudy(
    density="diagonal",
    deployed="otsu",
    coverage={"x": np.array([0.1, 0.9]), "y": np.array([0.5])},
    foreign={"x": np.array([True, False]), "y": np.array([False])},
    rulings=tuple(
        Ruling(site, rule, cut, caught, lost)
        for rule in RULES
        for site, cut, caught, lost in (("x", 0.4, 0.9, 0.02), ("y", 0.2, NAN, 0.04))
    ),
)


def test_means_are_over_the_sites_that_have_the_number(study: Study) -> None:
    table = gate_rules(study, GATE)
    assert table is not None
    assert [column.name for column in table.columns[3:]] == [
        "x: OOD caught (%)",
        "x: ID lost (%)",
        "y: OOD caught (%)",
        "y: ID lost (%)",
    ]
    first = table.lines[0].cells
    assert first[0] == "Otsu"
    assert first[1:3] == (pytest.approx(0.9), pytest.approx(0.03))
    assert [cell.text for cell in table.cells()[0]][3:] == ["90.0", "2.0", "–", "4.0"]
    assert len(table.lines) == len(RULES)
    assert "otsu was deployed" in table.caption


def test_the_paper_s_otsu_stands_below_on_its_benchmarks(study: Study) -> None:
    table = gate_rules(replace(study, benchmark="fedisic"), GATE)
    assert table is not None
    assert [cell.text for cell in table.cells()[-1]][:3] == ["Otsu, in the paper", "91.0", "1.0"]
    assert not table.lines[-1].ranked


def test_no_study_no_table(study: Study) -> None:
    assert gate_rules(study, None) is None


def test_every_rule_has_a_name() -> None:
    assert all(name_of(rule) != rule for rule in RULES)
