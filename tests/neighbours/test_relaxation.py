import numpy as np
import pytest
import torch
from torch import Tensor

from fidal.neighbours import relaxation
from fidal.neighbours.relaxation import relax
from fidal.neighbours.similarity import unit


def crowded(n: int, width: int, spread: float, seed: int) -> Tensor:
    rng = np.random.default_rng(seed)
    means = rng.normal(size=(6, width))
    return unit(
        torch.from_numpy(means[rng.integers(0, 6, n)] + spread * rng.normal(size=(n, width)))
    )


def naive(x: Tensor, order: list[int], budget: int, n: int, cosine: float) -> tuple[list[int], int]:
    similarity = [[float(np.dot(a, b)) for b in x.numpy()] for a in x.numpy()]
    taken: list[int] = []
    visited = 0
    for i in order:
        if len(taken) == budget:
            break
        visited += 1
        others = [(similarity[i][j], j) for j in range(len(x)) if j != i]
        near = [j for s, j in sorted(others, reverse=True) if s > cosine][:n]
        if len(near) < n or not set(near) & set(taken):
            taken.append(i)
    return taken, visited


@pytest.mark.parametrize("spread", [0.05, 0.3, 0.5, 2.0])
@pytest.mark.parametrize(("budget", "n", "cosine"), [(30, 5, 0.85), (90, 2, 0.95), (120, 1, 0.5)])
def test_is_the_naive_walk(
    spread: float, budget: int, n: int, cosine: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(relaxation, "VISITED", 17)
    x = crowded(120, 6, spread, seed=1)
    order = torch.from_numpy(np.random.default_rng(2).permutation(120))
    rows, visited = relax(x, order, budget, n, cosine)
    assert (rows.tolist(), visited) == naive(x, order.tolist(), budget, n, cosine)


def test_by_hand() -> None:
    # Four directions within 10 degrees and one at a right angle; n = 2, cos > 0.9.
    degrees = torch.tensor([0.0, 4.0, 8.0, 10.0, 90.0], dtype=torch.float64).deg2rad()
    x = torch.stack([degrees.cos(), degrees.sin()], 1)
    # 0 is taken (nobody yet). 1 has N = {0, 2}: 0 is taken, skip. 2 has N = {3, 1}: taken.
    # 3 has N = {2, 1}: 2 is taken, skip. 4 has no neighbour above 0.9: sparse, taken.
    rows, visited = relax(x, torch.arange(5), 5, 2, 0.9)
    assert rows.tolist() == [0, 2, 4]
    assert visited == 5


def test_a_sparse_point_is_taken_beside_a_taken_one() -> None:
    # Two equal rows: each has one neighbour. With n = 2 that is too few and both are taken.
    x = torch.tensor([[1.0, 0.0], [1.0, 0.0], [0.0, 1.0]])
    assert relax(x, torch.arange(3), 3, 2, 0.85)[0].tolist() == [0, 1, 2]
    assert relax(x, torch.arange(3), 3, 1, 0.85)[0].tolist() == [0, 2]


def test_stops_at_the_budget() -> None:
    x = torch.eye(6)
    order = torch.tensor([4, 2, 0, 1, 3, 5])
    rows, visited = relax(x, order, 3, 1, 0.85)
    assert rows.tolist() == [4, 2, 0]
    assert visited == 3


def test_a_pool_smaller_than_the_neighbourhood() -> None:
    x = torch.ones(3, 4) / 2
    assert relax(x, torch.arange(3), 3, 5, 0.85)[0].tolist() == [0, 1, 2]
    assert relax(x[:1], torch.arange(1), 1, 1, 0.85)[0].tolist() == [0]


def test_leaves_its_input_alone() -> None:
    x = crowded(40, 5, 0.1, seed=3)
    before = x.clone()
    relax(x, torch.arange(40), 20, 3, 0.8)
    assert torch.equal(x, before)
