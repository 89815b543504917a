import math
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from scipy import stats

from fidal.report.comparing import area, best_round, difference, holm, rank, reference, rivals
from fidal.report.frame import Study
from fidal.report.reading import read_folders
from tests.report.made import edit, make_run

NAN = float("nan")


def test_best_round_is_the_highest_mean(study: Study) -> None:
    for method in study.methods:
        means = [np.mean(column) for column in study.values(method, "bma_pooled").T]
        assert best_round(study, method) == int(np.argmax(means))


def test_a_round_that_some_seeds_lack_is_not_the_best(patchy: Study) -> None:
    means = [spread.mean for spread in patchy.curve("badge", "bma_pooled")]
    assert max(means[4:]) > max(means[:4])
    assert best_round(patchy, "badge") <= 3


def test_the_reference_is_fidal_or_else_the_best(study: Study) -> None:
    assert reference(study) == "fidal"
    without = replace(study, main=("random", "entropy", "badge"))
    assert reference(without) == rank(without, without.main)[0] == "badge"


def test_its_own_readings_are_no_rivals(study: Study, tmp_path: Path) -> None:
    assert rivals(study) == ["random", "entropy", "badge"]
    for strategy in ("fidal", "fidal-paper"):
        make_run(tmp_path, strategy)
    (own,) = read_folders([tmp_path]).studies
    assert rivals(own) == ["fidal-paper"]


def test_difference_is_the_paired_t_test() -> None:
    ours, theirs = np.array([0.5, 0.6, 0.4, NAN]), np.array([0.45, 0.5, 0.38, 0.1])
    gap = difference(ours, theirs)
    expected = stats.ttest_rel(ours[:3], theirs[:3])
    interval = expected.confidence_interval(0.95)
    assert gap.pairs == 3
    assert gap.mean == pytest.approx(0.17 / 3)
    assert gap.p == pytest.approx(expected.pvalue)
    assert (gap.low, gap.high) == pytest.approx((interval.low, interval.high))


def test_difference_with_one_pair_or_none_claims_nothing() -> None:
    one = difference(np.array([0.5]), np.array([0.4]))
    assert one.mean == pytest.approx(0.1) and math.isnan(one.p) and math.isnan(one.low)
    assert difference(np.array([NAN]), np.array([0.4])).pairs == 0


def test_difference_that_is_the_same_in_every_pair() -> None:
    assert difference(np.array([0.5, 0.6]), np.array([0.5, 0.6])).p == 1
    assert difference(np.array([0.5, 0.75]), np.array([0.25, 0.5])).p == 0


def test_holm_by_hand() -> None:
    # Sorted 0.01, 0.03, 0.04: times 3, 2, 1, never falling.
    assert holm([0.04, 0.01, NAN, 0.03])[:2] == pytest.approx([0.06, 0.03])
    assert holm([0.04, 0.01, NAN, 0.03])[3] == pytest.approx(0.06)
    assert math.isnan(holm([0.04, NAN])[1])
    assert holm([0.9, 0.8]) == [1.0, 1.0]


def test_area_is_the_mean_height_of_the_curve(tmp_path: Path) -> None:
    folder = make_run(tmp_path, "fidal", rounds=2)
    scores = {0: 0.2, 1: 0.4, 2: 0.5}
    seen = {0: (90, 10), 1: (180, 20), 2: (300, 100)}

    def change(row: dict[str, float]) -> None:
        if row["site"] == "*":
            row["bma_pooled"] = scores[int(row["round"])]
            row["labelled"], row["outliers"] = seen[int(row["round"])]

    edit(folder, change)
    (only,) = read_folders([tmp_path]).studies
    # From 100 to 200 images 0.3 on average, from 200 to 400 images 0.45.
    assert area(only, "fidal").mean == pytest.approx((100 * 0.3 + 200 * 0.45) / 300)
