from dataclasses import replace

import numpy as np
import pytest

from fidal.report.frame import Study
from fidal.report.tables.gates import gates, has_gate, over_rounds

NAN = float("nan")


def test_each_seed_is_averaged_over_its_rounds_first() -> None:
    # Seed 0: mean of 0.2 and 0.4; seed 1: 0.9 alone. Rounds of seed 0 weigh no more for it.
    spread = over_rounds(np.array([[NAN, 0.2, 0.4], [NAN, NAN, 0.9], [NAN, NAN, NAN]]))
    assert spread.mean == pytest.approx((0.3 + 0.9) / 2)
    assert (spread.seeds, spread.of) == (2, 3)


def test_one_line_per_gated_method_and_site(study: Study) -> None:
    table = gates(study)
    assert table is not None
    assert [line.cells[:2] for line in table.lines] == [("FIDAL", site) for site in study.sites]
    caught = study.values("fidal", "gate.true_recall", "north")[:, 1:]
    assert table.lines[0].cells[2].mean == pytest.approx(caught.mean())  # type: ignore[union-attr]


def test_no_gate_no_table(study: Study) -> None:
    assert not has_gate(study, "random")
    assert gates(replace(study, main=("random", "badge"))) is None
