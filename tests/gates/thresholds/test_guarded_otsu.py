import numpy as np
import pytest
import torch
from torch import Tensor

from fidal.gates.thresholds.guarded_otsu import GuardedOtsu
from fidal.gates.thresholds.otsu import Otsu


def draw(rng: np.random.Generator, n: int, mean: float, spread: float = 0.05) -> Tensor:
    return torch.from_numpy(rng.normal(mean, spread, n).clip(0, 1))


def test_it_is_otsu_where_outliers_are_evident_and_the_loss_is_small() -> None:
    rng = np.random.default_rng(0)
    null = draw(rng, 100, 0.8)
    pool = torch.cat([draw(rng, 300, 0.2), draw(rng, 700, 0.8)])
    assert GuardedOtsu().cut(pool, null) == Otsu().cut(pool, None)


def test_a_clean_pool_is_not_cut_though_otsu_would() -> None:
    abstained = 0
    for seed in range(30):
        rng = np.random.default_rng(seed)
        pool, null = draw(rng, 800, 0.6), draw(rng, 100, 0.6)
        assert Otsu().cut(pool, None) is not None
        abstained += GuardedOtsu().cut(pool, null) is None
    assert abstained >= 27


@pytest.mark.parametrize("max_id_loss", [0.05, 0.15, 0.3])
def test_the_expected_loss_of_its_cut_is_capped(max_id_loss: float) -> None:
    # The outliers are evident, but Otsu parts the two kinds of ID images.
    rng = np.random.default_rng(1)
    null = torch.cat([draw(rng, 50, 0.5, 0.03), draw(rng, 49, 0.9, 0.03)])
    pool = torch.cat([draw(rng, n, m, 0.03) for n, m in ((80, 0.3), (460, 0.5), (460, 0.9))])
    otsu, cut = Otsu().cut(pool, None), GuardedOtsu(max_id_loss=max_id_loss).cut(pool, null)
    assert otsu is not None and cut is not None and cut < otsu
    # The k-th smallest of 99 as the cut refuses k of 100 ID images in expectation.
    assert cut == null.sort().values[round(max_id_loss * 100) - 1]


def test_without_a_null_it_is_otsu() -> None:
    pool = draw(np.random.default_rng(2), 200, 0.5)
    assert GuardedOtsu().cut(pool, None) == Otsu().cut(pool, None)


def test_constant_scores_are_not_cut() -> None:
    assert GuardedOtsu().cut(torch.full((9,), 0.5), torch.full((20,), 0.5)) is None
