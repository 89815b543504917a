import numpy as np
import pytest
import torch
from torch import Tensor

from fidal.gates.thresholds.otsu import Otsu

BINS = 256


def naive(scores: list[float]) -> float:
    """Every split of the 256 bins, the first best one; means over the bins' centres."""
    bins = [min(int(x * BINS), BINS - 1) for x in scores]
    best, cut = 0.0, -1.0
    for i in range(BINS - 1):
        low = [(b + 0.5) / BINS for b in bins if b <= i]
        high = [(b + 0.5) / BINS for b in bins if b > i]
        if low and high:
            apart = sum(low) / len(low) - sum(high) / len(high)
            between = len(low) * len(high) * apart**2
            if between > best * (1 + 1e-9):
                best, cut = between, (i + 0.5) / BINS
    return cut


@pytest.mark.parametrize("seed", range(5))
def test_against_every_split(seed: int) -> None:
    rng = np.random.default_rng(seed)
    scores = torch.from_numpy(rng.beta(*rng.uniform(0.5, 4, 2), size=80))
    assert Otsu().cut(scores, None) == naive(scores.tolist())


def test_by_hand() -> None:
    # 0.1 lies in bin 25. Of the many empty splits between 0.1 and 0.9 the first one wins.
    assert Otsu().cut(torch.tensor([0.9, 0.1, 0.1, 0.9, 0.9]), None) == 25.5 / 256
    assert Otsu().cut(torch.tensor([0.0, 1.0]), None) == 0.5 / 256


@pytest.mark.parametrize("share", [0.05, 0.1, 0.2, 0.35, 0.5])
@pytest.mark.parametrize("seed", [0, 1])
def test_it_parts_two_blobs_ten_sigma_apart(share: float, seed: int) -> None:
    rng, n = np.random.default_rng(seed), 4000
    low = rng.normal(0.3, 0.03, round(share * n)).clip(0)
    high = rng.normal(0.6, 0.03, n - len(low)).clip(max=1)
    cut = Otsu().cut(torch.from_numpy(np.concatenate([high, low])), None)
    # The cut is the centre of a bin, so half a bin of the lower blob may lie above it.
    assert cut is not None
    assert low.max() - 0.5 / BINS < cut < high.min()


@pytest.mark.parametrize("scores", [torch.full((9,), 0.4), torch.ones(3), torch.zeros(1)])
def test_constant_scores_are_not_cut(scores: Tensor) -> None:
    assert Otsu().cut(scores, None) is None


def test_it_splits_a_clean_pool_in_two() -> None:
    # What the other thresholds are for: one mode, and yet a third or more of it is refused.
    scores = torch.from_numpy(np.random.default_rng(0).normal(0.5, 0.1, 5000).clip(0, 1))
    cut = Otsu().cut(scores, None)
    assert cut is not None and float((scores < cut).double().mean()) > 0.3
