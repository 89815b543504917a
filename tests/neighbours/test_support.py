import math

import pytest
import torch
from torch import Tensor

from fidal.neighbours import support
from fidal.neighbours.similarity import max_similarity, unit
from fidal.neighbours.support import support_count


@pytest.fixture(autouse=True)
def small_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(support, "BLOCK", 16)


def rows(n: int, seed: int) -> Tensor:
    generator = torch.Generator().manual_seed(seed)
    return torch.randn(n, 6, dtype=torch.float64, generator=generator) + 0.5


def cosine(a: list[float], b: list[float]) -> float:
    dot = sum(x * y for x, y in zip(a, b, strict=True))
    return dot / math.sqrt(sum(x * x for x in a) * sum(x * x for x in b))


def naive(u: Tensor, labelled: Tensor, among: Tensor | None = None) -> list[int]:
    """Eq. 6 as it is printed, tau from Eq. 4."""
    counts = []
    everyone = (u if among is None else among).tolist() + labelled.tolist()
    for a in u.tolist():
        tau = 0.8 * max(cosine(a, b) for b in labelled.tolist())
        counts.append(sum(cosine(a, b) > tau for b in everyone))
    return counts


def count(u: Tensor, labelled: Tensor, sample: Tensor | None = None) -> Tensor:
    u, labelled = unit(u), unit(labelled)
    return support_count(u, labelled, 0.8 * max_similarity(u, labelled), sample)


@pytest.mark.parametrize("n", [1, 15, 16, 17, 50])
@pytest.mark.parametrize("m", [1, 16, 21])
def test_eq_6_against_a_double_loop(n: int, m: int) -> None:
    u, labelled = rows(n, 0), rows(m, 1)
    got = count(u, labelled)
    assert got.dtype == torch.int64
    assert got.tolist() == naive(u, labelled)


def test_four_directions_by_hand() -> None:
    angles = torch.deg2rad(torch.tensor([0.0, 20.0, 40.0, 90.0], dtype=torch.float64))
    u = torch.stack([angles.cos(), angles.sin()], 1)
    labelled = u[:1]
    # cos 20 = 0.94, cos 40 = 0.77, cos 50 = 0.64, cos 70 = 0.34
    threshold = torch.tensor([0.8, 0.75, 0.6, 0.1], dtype=torch.float64)
    # 0: itself, 20, labelled 0.  20: itself, 0, 40, labelled 0.  40: all five.  90: itself, 40, 20.
    assert support_count(u, labelled, threshold).tolist() == [3, 4, 5, 3]


def test_the_threshold_itself_does_not_count() -> None:
    u = torch.eye(2, dtype=torch.float64)
    assert support_count(u, u[:0], torch.tensor([0.0, 1.0])).tolist() == [1, 0]


def test_float32_counts_like_float64() -> None:
    u, labelled = rows(50, 4), rows(20, 5)
    assert count(u.float(), labelled.float()).tolist() == count(u, labelled).tolist()


def test_identical_candidates_all_count_each_other() -> None:
    u = rows(1, 0).expand(40, -1)
    assert count(u, u[:3]).tolist() == [43] * 40


def test_a_sample_of_everybody_is_exact() -> None:
    u, labelled = rows(50, 6), rows(20, 7)
    assert count(u, labelled, torch.arange(50)).tolist() == count(u, labelled).tolist()


def test_a_sample_is_scaled_up_and_the_labelled_are_not() -> None:
    u, labelled, sample = rows(50, 8), rows(20, 9), torch.arange(0, 50, 5)
    sampled, all_labelled = naive(u, labelled, u[sample]), naive(u, labelled, u[:0])
    want = [5 * (s - known) + known for s, known in zip(sampled, all_labelled, strict=True)]
    assert count(u, labelled, sample).tolist() == want


def test_inputs_stay_as_they_are() -> None:
    u, labelled = unit(rows(20, 0)), unit(rows(5, 1))
    threshold = torch.full((20,), 0.3, dtype=torch.float64)
    before = [x.clone() for x in (u, labelled, threshold)]
    support_count(u, labelled, threshold)
    assert all(torch.equal(a, b) for a, b in zip(before, (u, labelled, threshold), strict=True))


@pytest.mark.gpu
@pytest.mark.parametrize("m", [0, 700])
def test_a_gpu_counts_as_float64_does_but_for_ties(m: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """A pair closer to its threshold than float32 resolves may fall either way: few do."""
    monkeypatch.setattr(support, "GPU_BLOCK", 1000)
    generator = torch.Generator().manual_seed(0)
    u = unit(torch.randn(2500, 256, generator=generator) + 0.3)
    labelled = unit(torch.randn(m, 256, generator=generator) + 0.3)
    threshold = torch.full((len(u),), 0.08) + 0.02 * torch.rand(len(u), generator=generator)
    exact = support_count(u.double(), labelled.double(), threshold.double())
    found = support_count(u.cuda(), labelled.cuda(), threshold.cuda()).cpu()
    assert int((found - exact).abs().max()) <= 1
    assert int((found != exact).sum()) <= 10
    assert float(exact.double().std()) > 100
