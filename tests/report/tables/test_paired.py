from pathlib import Path

import pytest
from scipy import stats

from fidal.report.frame import Study
from fidal.report.reading import read_folders
from fidal.report.tables.paired import paired
from tests.report.made import make_run


def test_every_rival_is_tested_seed_by_seed(study: Study) -> None:
    table = paired(study)
    assert [line.cells[0] for line in table.lines] == ["Random", "Entropy", "BADGE"]
    ours = study.values("fidal", "bma_pooled")[:, 5]
    p = [stats.ttest_rel(ours, study.values(m, "bma_pooled")[:, 5]).pvalue for m in study.main[:3]]
    for line, expected in zip(table.lines, p, strict=True):
        assert float(str(line.cells[4])) == pytest.approx(expected, abs=6e-4)
        assert float(str(line.cells[5])) >= float(str(line.cells[4]))


def test_only_shared_seeds_count(patchy: Study) -> None:
    seeds = {line.cells[0]: line.cells[1] for line in paired(patchy).lines}
    assert seeds == {"Random": 3, "Entropy": 2, "BADGE": 2}


def test_one_seed_gives_a_gap_and_no_test(tmp_path: Path) -> None:
    for strategy in ("fidal", "random"):
        make_run(tmp_path, strategy)
    (line,) = paired(read_folders([tmp_path]).studies[0]).lines
    assert str(line.cells[2])[0] in "+−"
    assert line.cells[3:6] == ("–", "–", "–")
