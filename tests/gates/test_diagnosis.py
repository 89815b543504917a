import numpy as np
import pytest
import torch

from fidal.gates.diagnosis import auroc, diagnose, separation
from fidal.gates.thresholds.known_null import KnownNull
from fidal.gates.thresholds.otsu import Otsu
from fidal.types import GateDiagnosis


def said(
    scores: list[float] | np.ndarray,
    cut: float,
    null: list[float] | np.ndarray | None,
    foreign: list[float],
) -> GateDiagnosis:
    def tensor(x: list[float] | np.ndarray) -> torch.Tensor:
        return torch.from_numpy(np.array(x, dtype=float))

    known = None if null is None else tensor(null)
    return diagnose("diagonal", Otsu(), tensor(scores), cut, known, tensor(foreign))


def test_every_number_by_hand() -> None:
    # Pool 0, 0.2 | 0.6, 0.8, 1; known images 0.1 and nine from 0.5 on; outliers 0, 0.3, 0.7.
    null = [0.1, 0.5, 0.55, 0.6, 0.65, 0.7, 0.75, 0.8, 0.85, 0.9]
    d = said([0.8, 0.0, 1.0, 0.6, 0.2], 0.4, null, [0.3, 0.0, 0.7])
    assert (d.density, d.threshold, d.candidates, d.cut) == ("diagonal", "otsu", 5, 0.4)
    assert d.rejected == pytest.approx(2 / 5)
    assert d.id_loss == pytest.approx(1 / 10)
    assert d.recall == pytest.approx(2 / 3)
    # Refused 0.1 +- 0.1, kept 0.8 +- 0.163: (0.8 - 0.1) / sqrt((2 x 0.01 + 3 x 0.08 / 3) / 5).
    assert d.separation == pytest.approx(0.7 / (0.1 / 5) ** 0.5)
    # Pairs (known, outlier) with the known one higher: 10 of 10 above 0; 9 above 0.3; above 0.7
    # 4, and one tie at half.
    assert d.auroc == pytest.approx((10 + 9 + 4.5) / 30)
    # p = (1 + known at or below) / 11: 1/11, 2/11, 5/11, 9/11, 1. Above 1/2: 2 of 5; were all ID,
    # 6 of the 11 possible values. 1 - (2 / 5) / (6 / 11).
    assert d.ood_share == pytest.approx(1 - (2 / 5) / (6 / 11))


@pytest.mark.parametrize("seed", range(3))
def test_auroc_against_all_pairs(seed: int) -> None:
    rng = np.random.default_rng(seed)
    known, outliers = rng.integers(2, 9, 30) / 10, rng.integers(0, 6, 20) / 10
    wins = [float(k > o) + 0.5 * float(k == o) for k in known for o in outliers]
    assert auroc(np.sort(known), np.sort(outliers)) == pytest.approx(np.mean(wins))


def test_separation_of_nobody_and_of_points() -> None:
    assert separation(np.array([0.2, 0.4]), 0.1) == 0
    assert np.isfinite(separation(np.array([0.0, 0.0, 1.0]), 0.5))


def test_without_labelled_outliers_what_needs_them_is_absent() -> None:
    d = said([0.0, 0.5, 1.0], 0.2, [0.5] * 12, [])
    assert d.auroc is None and d.recall is None and d.id_loss == 0


def test_without_a_null_it_says_that_nobody_has_checked() -> None:
    d = said([0.0, 0.5, 1.0], 0.2, None, [])
    assert d.ood_share is d.auroc is d.recall is d.id_loss is None
    assert d.rejected == pytest.approx(1 / 3)
    assert d.flags == ("fewer than 10 randomly drawn labelled ID images: the gate is unchecked",)
    scores = torch.tensor([0.0, 1.0])
    (flag,) = diagnose("diagonal", KnownNull(), scores, 0.0, None, scores[:0]).flags
    assert flag.endswith("and known-null refuses nothing")


def uniform(n: int, low: float = 0.0, high: float = 1.0) -> np.ndarray:
    return low + (high - low) * (np.arange(n) + 0.5) / n


def test_a_cut_through_a_clean_pool_is_flagged_with_its_loss() -> None:
    d = said(uniform(1000), 0.4, uniform(100), [])
    (flag,) = d.flags
    assert flag.startswith("otsu split a pool that looks clean: it refused 40%")
    assert "would refuse 40% of the labelled ID images" in flag
    assert d.id_loss == pytest.approx(0.4)


def test_a_cut_through_the_id_images_of_a_pool_with_a_few_outliers_is_flagged_so() -> None:
    pool = np.concatenate([np.zeros(80), uniform(920, 0.3, 1)])
    (flag,) = said(pool, 0.6, uniform(100, 0.3, 1), []).flags
    assert flag.startswith("otsu split a pool that is mostly ID")


def test_a_cut_between_outliers_and_id_images_is_not_flagged() -> None:
    pool = np.concatenate([uniform(400, 0, 0.2), uniform(600, 0.6, 1)])
    assert said(pool, 0.4, uniform(100, 0.6, 1), []).flags == ()


def test_a_range_squeezed_by_a_tail_is_flagged() -> None:
    # Ten extreme images take up 0-0.9 of the range; 30 % outliers lie just below the ID images.
    pool = np.concatenate([[0.0] * 10, uniform(290, 0.9, 0.94), uniform(700, 0.95, 1)])
    (flag,) = said(pool, 0.5, uniform(100, 0.95, 1), []).flags
    assert "squeezed by a tail" in flag and "1% were refused where about 30%" in flag
    assert said(pool, 0.945, uniform(100, 0.95, 1), []).flags == ()
