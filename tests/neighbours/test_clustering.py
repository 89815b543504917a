import numpy as np
import pytest
import torch
from sklearn.cluster import KMeans
from torch import Tensor

from fidal.neighbours.clustering import _assign, _means, k_means, turns


def clumps(k: int = 12, each: int = 30, seed: int = 0) -> tuple[Tensor, Tensor]:
    rng = np.random.default_rng(seed)
    truth = np.repeat(np.arange(k), each)
    x = 20 * rng.normal(size=(k, 8))[truth] + rng.normal(size=(k * each, 8))
    return torch.from_numpy(x), torch.from_numpy(truth)


def inertia(x: Tensor, centres: Tensor, assignment: Tensor) -> float:
    return sum(
        float((row - centres[c]).square().sum())
        for row, c in zip(x, assignment.tolist(), strict=True)
    )


@pytest.mark.parametrize("seed", range(5))
def test_finds_clumps_that_stand_apart(seed: int) -> None:
    x, truth = clumps()
    _, found = k_means(x, 12, np.random.default_rng(seed))
    pairs = set(zip(truth.tolist(), found.tolist(), strict=True))
    assert len(pairs) == 12  # a one-to-one renaming of the clusters


def test_is_a_fixed_point_of_lloyd() -> None:
    x = torch.from_numpy(np.random.default_rng(1).normal(size=(300, 5)))
    centres, assignment = k_means(x, 7, np.random.default_rng(0), iterations=200)
    for i, row in enumerate(x):
        assert int((centres - row).square().sum(1).argmin()) == assignment[i]
    for c in range(7):
        torch.testing.assert_close(centres[c], x[assignment == c].mean(0))


def test_inertia_is_that_of_scikit_learn() -> None:
    x = torch.from_numpy(np.random.default_rng(2).normal(size=(600, 10)))
    ours = [inertia(x, *k_means(x, 20, np.random.default_rng(s), 100)) for s in range(5)]
    theirs = [KMeans(20, n_init=1, random_state=s).fit(x.numpy()).inertia_ for s in range(5)]
    assert np.mean(ours) == pytest.approx(np.mean(theirs), rel=0.02)


def test_seeds_come_from_a_sample_where_there_are_many_rows(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("fidal.neighbours.clustering.SEED_ROWS", 100)
    x, _ = clumps()
    _, found = k_means(x, 12, np.random.default_rng(0))
    assert len(found) == 360
    assert len(found.unique()) == 12


def test_the_generator_alone_decides() -> None:
    x = torch.from_numpy(np.random.default_rng(3).normal(size=(200, 4)).astype(np.float32))
    before = x.clone()
    first = k_means(x, 9, np.random.default_rng(5))
    torch.rand(4)
    again = k_means(x, 9, np.random.default_rng(5))
    other = k_means(x, 9, np.random.default_rng(6))
    assert torch.equal(first[0], again[0]) and torch.equal(first[1], again[1])
    assert not torch.equal(first[1], other[1])
    assert torch.equal(x, before)
    assert first[0].dtype == torch.float32


def test_an_empty_cluster_restarts_far_away() -> None:
    x = torch.tensor([[0.0], [1.0], [2.0], [50.0]])
    cost, assignment = _assign(x, torch.tensor([[1.0], [1000.0]]))
    assert assignment.tolist() == [0, 0, 0, 0]
    # The mean of all is 13.25; the row farthest from its old centre, 50, becomes the second centre.
    assert _means(x, assignment, cost, 2).tolist() == [[13.25], [50.0]]


@pytest.mark.parametrize("distinct", [1, 3])
def test_fewer_distinct_rows_than_clusters(distinct: int) -> None:
    x = torch.arange(30).remainder(distinct)[:, None].float()
    centres, assignment = k_means(x, 6, np.random.default_rng(0))
    assert torch.isfinite(centres).all()
    torch.testing.assert_close(centres[assignment], x)


@pytest.mark.parametrize(("n", "k"), [(1, 1), (1, 5), (4, 4), (3, 10)])
def test_as_many_clusters_as_rows(n: int, k: int) -> None:
    x = torch.arange(n)[:, None].double() ** 2
    centres, assignment = k_means(x, k, np.random.default_rng(0))
    assert centres.shape == (n, 1)
    assert sorted(assignment.tolist()) == list(range(n))


def test_turns_by_hand() -> None:
    cluster = torch.tensor([2, 0, 2, 2, 0, 5])
    score = torch.tensor([0.1, 0.5, 0.9, 0.1, 0.7, 0.0])
    # Cluster 0: row 4, then 1. Cluster 2: row 2, then the equals 0 and 3. Cluster 5: row 5.
    assert turns(cluster, score).tolist() == [1, 1, 0, 2, 0, 0]


def test_turns_against_a_loop() -> None:
    rng = np.random.default_rng(4)
    cluster = torch.from_numpy(rng.integers(0, 9, 100))
    score = torch.from_numpy(rng.integers(0, 5, 100) / 5)
    for i, turn in enumerate(turns(cluster, score).tolist()):
        ahead = [
            j
            for j in range(100)
            if cluster[j] == cluster[i]
            and (score[j] > score[i] or (score[j] == score[i] and j < i))
        ]
        assert turn == len(ahead)
