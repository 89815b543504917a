import numpy as np
import pytest
import torch
from scipy.stats import gaussian_kde

from fidal.gates.thresholds.kde_valley import KdeValley


def cut(scores: np.ndarray) -> float | None:
    return KdeValley().cut(torch.from_numpy(scores), None)


def blobs(seed: int, n_low: int, n_high: int, spread: float) -> np.ndarray:
    rng = np.random.default_rng(seed)
    low, high = rng.normal(0.3, spread, n_low), rng.normal(0.75, spread, n_high)
    return np.concatenate([low, high]).clip(0, 1)


@pytest.mark.parametrize(("n_low", "n_high"), [(1500, 2500), (400, 3600)])
def test_the_valley_is_that_of_an_exact_kernel_density(n_low: int, n_high: int) -> None:
    scores = blobs(0, n_low, n_high, 0.09)
    quartiles = np.quantile(scores, [0.25, 0.75])
    spread = min(scores.std(), float(np.diff(quartiles)[0]) / 1.34)
    bandwidth = 0.9 * spread * len(scores) ** -0.2  # Silverman's rule
    grid = np.linspace(0.3, 0.75, 451)
    exact = gaussian_kde(scores, bandwidth / scores.std(ddof=1))(grid)
    assert cut(scores) == pytest.approx(float(grid[exact.argmin()]), abs=0.006)


def test_the_middle_of_an_empty_gap() -> None:
    found = cut(np.concatenate([np.full(50, 0.2), np.full(50, 0.8)]))
    assert found == pytest.approx(0.5, abs=1 / 512)


@pytest.mark.parametrize("seed", range(5))
def test_one_mode_is_not_cut(seed: int) -> None:
    assert cut(np.random.default_rng(seed).normal(0.6, 0.1, 2000).clip(0, 1)) is None


def test_modes_at_the_ends_of_the_scale_are_modes() -> None:
    found = cut(np.concatenate([np.zeros(100), np.ones(300)]))
    assert found is not None and 0.1 < found < 0.9


def test_constant_scores_are_not_cut() -> None:
    assert cut(np.full(20, 0.5)) is None
