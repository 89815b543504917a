import math
from dataclasses import replace

import numpy as np
import pytest
import torch
from torch import Tensor

from fidal.checks.pools import make_pool
from fidal.neighbours.similarity import unit
from fidal.strategies.typiclust import TypiClust, typicality
from fidal.types import Labelled, Pool


def directions(sizes: list[int], n_labelled: list[int], spread: float = 0.02) -> Pool:
    """Clumps around orthogonal axes with so many candidates, and labelled images, in each."""
    rng = np.random.default_rng(0)

    def draw(counts: list[int]) -> Tensor:
        axes = np.repeat(np.arange(len(counts)), counts)
        x = np.eye(len(counts))[axes] + spread * rng.normal(size=(len(axes), len(counts)))
        return torch.from_numpy(x).reshape(-1, len(counts))

    x, known = draw(sizes), draw(n_labelled)
    pool = make_pool(n=sum(sizes), width=len(sizes), n_labelled=len(known), dtype=x.dtype).pool
    ids = tuple(f"{i:04d}" for i in range(len(x)))
    labelled = Labelled(known, torch.zeros(len(known), dtype=torch.int64))
    return replace(
        pool, ids=ids, features=x, coverage=None, global_features=None, labelled=labelled
    )


def clump(pool: Pool, ids: tuple[str, ...]) -> list[int]:
    rows = [pool.ids.index(i) for i in ids]
    return pool.features[rows].argmax(1).tolist()


def test_uncovered_clusters_first_and_the_larger_before_the_smaller() -> None:
    pool = directions([10, 30, 20, 40], [0, 1, 0, 2])
    # Clumps 2 and 0 hold no label, clump 1 one, clump 3 two: in this order, and then again.
    query = TypiClust(max_clusters=4).select(pool, 7, np.random.default_rng(0))
    assert clump(pool, query.ids) == [2, 0, 1, 3, 2, 0, 1]
    assert query.diagnosis.terms["clusters"] == 4


def test_small_clusters_come_last() -> None:
    pool = directions([5, 30, 6], [0, 2, 1])
    query = TypiClust(max_clusters=3).select(pool, 3, np.random.default_rng(0))
    assert clump(pool, query.ids) == [2, 1, 2]
    everything = TypiClust(max_clusters=3).select(pool, 41, np.random.default_rng(0))
    assert clump(pool, everything.ids)[-5:] == [0] * 5


def test_takes_the_most_typical_of_each_cluster() -> None:
    pool = directions([40, 25], [0, 0])
    query = TypiClust(max_clusters=2).select(pool, 2, np.random.default_rng(0))
    score = query.scores["typicality"]
    assert query.ids == (
        pool.ids[int(score[:40].argmax())],
        pool.ids[40 + int(score[40:].argmax())],
    )


def test_as_many_clusters_as_labels_and_budget() -> None:
    pool = make_pool(n=400, n_labelled=10).pool
    for budget, most, want in ((15, 500, 25), (15, 20, 20)):
        query = TypiClust(max_clusters=most).select(pool, budget, np.random.default_rng(0))
        assert query.diagnosis.terms["clusters"] == want


def test_typicality_against_loops() -> None:
    rng = np.random.default_rng(1)
    x = unit(torch.from_numpy(rng.normal(size=(60, 5))))
    cluster = torch.from_numpy(rng.integers(0, 4, 60) * 3)
    score = typicality(x, cluster, neighbours=5)
    for i in range(60):
        own = [j for j in range(60) if cluster[j] == cluster[i]]
        away = sorted(math.dist(x[i].tolist(), x[j].tolist()) for j in own if j != i)
        near = away[: min(5, len(own) // 2)]
        assert score[i].item() == pytest.approx(1 / (sum(near) / len(near) + 1e-5))


def test_typicality_counts_half_of_a_small_cluster() -> None:
    # Points at 0, 1 and 90 degrees: of three, one neighbour counts; a cluster of one has none.
    degrees = torch.tensor([0.0, 1.0, 90.0, 45.0], dtype=torch.float64).deg2rad()
    x = torch.stack([degrees.cos(), degrees.sin()], 1)
    chord = [2 * math.sin(math.radians(a) / 2) for a in (1, 1, 89)]
    score = typicality(x, torch.tensor([0, 0, 0, 1]), neighbours=20)
    assert score.tolist() == pytest.approx([*(1 / (c + 1e-5) for c in chord), 0.0])
