import math

import numpy as np
import pytest
import torch
from torch import Tensor

from fidal.neighbours import herding
from fidal.neighbours.herding import adaptive_bandwidth, herd, kernel
from fidal.neighbours.similarity import max_similarity, unit


def some(n: int, width: int = 6, seed: int = 0) -> Tensor:
    return unit(torch.from_numpy(np.random.default_rng(seed).normal(size=(n, width))))


def naive(x: Tensor, weight: list[float], labelled: Tensor, h: float, budget: int) -> list[int]:
    """The textbook: every gain anew for every pick, from distances."""

    def k(a: np.ndarray, b: np.ndarray) -> float:
        return math.exp(-((float(np.linalg.norm(a - b)) / h) ** 2))

    n = len(x)
    K = [[k(a, b) for b in x.numpy()] for a in x.numpy()]
    covered = [max([0.0, *(k(a, b) for b in labelled.numpy())]) for a in x.numpy()]
    chosen: list[int] = []
    for _ in range(budget):
        gain = {
            i: sum(weight[j] * max(0.0, K[i][j] - covered[j]) for j in range(n))
            for i in range(n)
            if i not in chosen
        }
        best = max(gain, key=lambda i: gain[i])
        chosen.append(best)
        covered = [max(c, K[best][j]) for j, c in enumerate(covered)]
    return chosen


@pytest.mark.parametrize("bandwidth", [0.2, 0.7, 3.0])
@pytest.mark.parametrize("n_labelled", [0, 1, 12])
def test_lazy_greedy_is_the_naive_greedy(
    bandwidth: float, n_labelled: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Small blocks, so that every path is walked: several blocks, stale bounds, forgotten rows.
    for name, value in (("FRESH", 3), ("AHEAD", 7), ("KEPT", 16), ("ENTRIES", 800)):
        monkeypatch.setattr(herding, name, value)
    x, labelled = some(70), some(n_labelled, seed=1)
    weight = torch.from_numpy(np.random.default_rng(2).random(70))
    covered = (
        kernel(max_similarity(x, labelled), bandwidth) if n_labelled else torch.zeros_like(weight)
    )
    rows = herd(x, weight, covered, bandwidth, 40)
    assert rows.tolist() == naive(x, weight.tolist(), labelled, bandwidth, 40)


def test_with_a_flat_kernel_every_gain_goes_stale() -> None:
    x, weight = some(50, seed=4), torch.ones(50, dtype=torch.float64)
    rows = herd(x, weight, torch.zeros_like(weight), 20.0, 50)
    assert rows.tolist() == naive(x, [1.0] * 50, x[:0], 20.0, 50)


def test_with_a_narrow_kernel_it_ranks_by_uncertainty_and_skips_the_covered() -> None:
    x = torch.eye(4)[[0, 1, 2, 3, 1]]
    weight = torch.tensor([0.3, 0.9, 0.5, 0.1, 0.9])
    covered = torch.tensor([0.0, 0.0, 0.0, 1.0, 0.0])
    # Row 4 equals row 1: together they weigh 1.8, and once 1 is chosen 4 adds nothing. Row 3 is
    # covered, so it adds nothing either; of the two the lower row comes first.
    assert herd(x, weight, covered, 0.1, 5).tolist() == [1, 2, 0, 3, 4]


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_without_weight_or_variety_it_still_fills_the_budget(dtype: torch.dtype) -> None:
    alike = torch.full((300, 4), 0.5, dtype=dtype)
    one, zero = torch.ones(300, dtype=dtype), torch.zeros(300, dtype=dtype)
    assert herd(alike, one, zero, 0.5, 200).unique().numel() == 200
    assert herd(alike, zero, zero, 0.5, 300).tolist() == list(range(300))
    assert herd(alike[:1], one[:1], zero[:1], 0.5, 1).tolist() == [0]


def test_leaves_its_inputs_alone() -> None:
    x, weight, covered = some(30), torch.ones(30).double(), torch.full((30,), 0.1).double()
    before = [t.clone() for t in (x, weight, covered)]
    herd(x, weight, covered, 0.6, 10)
    assert all(torch.equal(a, b) for a, b in zip(before, (x, weight, covered), strict=True))


def test_kernel_by_hand() -> None:
    # Orthogonal unit vectors are sqrt(2) apart: exp(-2 / h^2). Rounding above 1 is no distance.
    value = kernel(torch.tensor([0.0, 1.0, 1.0000001, -1.0], dtype=torch.float64), 2.0)
    assert value.tolist() == pytest.approx([math.exp(-0.5), 1, 1, math.exp(-1)])


def test_bandwidth_is_the_smallest_positive_distance() -> None:
    x = some(25, seed=5)
    x = torch.cat([x, x[3:6]])  # duplicates are at distance zero, which does not count
    pairs = [float((x[i] - x[j]).norm()) for i in range(28) for j in range(i)]
    assert adaptive_bandwidth(x) == pytest.approx(min(d for d in pairs if d > 1e-9))
    assert adaptive_bandwidth(x.float()) == pytest.approx(adaptive_bandwidth(x), rel=1e-5)


@pytest.mark.parametrize("x", [torch.zeros(0, 3), torch.ones(1, 3), torch.ones(5, 3)])
def test_bandwidth_without_two_distinct_images_is_one(x: Tensor) -> None:
    assert adaptive_bandwidth(x) == 1


def test_bandwidth_does_not_fall_below_what_float32_resolves() -> None:
    x = torch.tensor([[1.0, 0.0], [1.0, 1e-4], [0.0, 1.0]])
    assert adaptive_bandwidth(x) == herding.RESOLVED
