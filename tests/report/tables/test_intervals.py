from dataclasses import replace

import pytest
from scipy import stats

from fidal.report.frame import Study
from fidal.report.tables.intervals import intervals


def test_intervals_are_those_of_the_t_distribution(study: Study) -> None:
    table = intervals(study)
    for method, line in zip(study.main, table.lines, strict=True):
        values = 100 * study.values(method, "bma_pooled")[:, 5]
        found = stats.t.interval(0.95, 2, values.mean(), stats.sem(values))
        assert line.cells[1] == 3
        assert line.cells[2] == pytest.approx(values.mean())
        assert line.cells[3] == f"{found[0]:.1f} to {found[1]:.1f}"
    outliers = study.values("fidal", "outliers")[:, 5]
    low, high = stats.t.interval(0.95, 2, outliers.mean(), stats.sem(outliers))
    assert table.lines[3].cells[7] == f"{low:.1f} to {high:.1f}"


def test_a_seed_that_is_missing_is_counted(patchy: Study) -> None:
    counts = {line.cells[0]: line.cells[1] for line in intervals(patchy).lines}
    assert counts == {"Random": 3, "Entropy": 2, "BADGE": 2, "FIDAL": 3}


def test_one_seed_has_no_interval(patchy: Study) -> None:
    runs = tuple(run for run in patchy.runs if run.seed == 0)
    (line, *_) = intervals(replace(patchy, runs=runs)).lines
    assert (line.cells[1], line.cells[3], line.cells[5]) == (1, "–", "–")
