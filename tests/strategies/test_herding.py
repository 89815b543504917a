import math
from dataclasses import replace

import numpy as np
import pytest
import torch
from torch import Tensor

from fidal.checks.pools import make_pool
from fidal.strategies.herding import Herding
from fidal.types import Labelled, Pool


def ordered_pool(n: int = 60, n_labelled: int = 15) -> Pool:
    """Ids in the order of the rows, so that rows can be compared with ids."""
    pool = make_pool(n=n, n_labelled=n_labelled, dtype=torch.float64).pool
    return replace(pool, ids=tuple(f"{i:04d}" for i in range(n)))


def unlabelled(pool: Pool) -> Pool:
    known = pool.labelled
    assert known.coverage is not None
    return replace(
        pool, labelled=Labelled(known.features[:0], known.labels[:0], known.coverage[:0])
    )


def rows(x: Tensor) -> list[list[float]]:
    return (x / x.norm(dim=1, keepdim=True)).tolist()


def naive(x: Tensor, known: Tensor, doubt: list[float], h: float, budget: int) -> list[int]:
    """The cover of all points, labelled ones with weight zero, evaluated for every pick."""
    candidates, centres = rows(x), rows(known)
    chosen: list[int] = []

    def cover(extra: int) -> float:
        all_centres = centres + [candidates[i] for i in (*chosen, extra)]
        return sum(
            u * max(math.exp(-((math.dist(p, c) / h) ** 2)) for c in all_centres)
            for u, p in zip(doubt, candidates, strict=True)
        )

    for _ in range(budget):
        rest = [i for i in range(len(candidates)) if i not in chosen]
        chosen.append(max(rest, key=cover))
    return chosen


def naive_margin(row: list[float]) -> float:
    e = sorted((math.exp(x - max(row)) for x in row), reverse=True)
    return 1 - (e[0] - e[1]) / sum(e)


def test_is_the_greedy_maximum_of_the_weighted_cover() -> None:
    pool = ordered_pool()
    assert pool.coverage is not None and pool.labelled.coverage is not None
    doubt = [naive_margin(row) for row in pool.global_logits.tolist()]
    query = Herding(bandwidth=0.7).select(pool, 8, np.random.default_rng(0))
    want = naive(pool.coverage, pool.labelled.coverage, doubt, 0.7, 8)
    assert [int(i) for i in query.ids] == want
    assert query.scores["uncertainty"].tolist() == pytest.approx(doubt)
    assert query.diagnosis.terms["bandwidth"] == 0.7


def test_bandwidth_adapts_to_the_labelled_images() -> None:
    pool = ordered_pool()
    assert pool.labelled.coverage is not None
    known = rows(pool.labelled.coverage)
    smallest = min(math.dist(a, b) for i, a in enumerate(known) for b in known[:i])
    query = Herding().select(pool, 8, np.random.default_rng(0))
    assert query.diagnosis.terms["bandwidth"] == pytest.approx(smallest)
    assert query.ids == Herding(bandwidth=smallest).select(pool, 8, np.random.default_rng(0)).ids


def test_without_labels_every_candidate_counts_the_same() -> None:
    pool = unlabelled(ordered_pool(40))
    assert pool.coverage is not None
    query = Herding().select(pool, 8, np.random.default_rng(0))
    want = naive(pool.coverage, pool.coverage[:0], [1.0] * 40, 1.0, 8)
    assert [int(i) for i in query.ids] == want


def test_without_an_encoder_it_covers_the_features() -> None:
    pool = ordered_pool()
    bare = replace(pool, coverage=None, labelled=replace(pool.labelled, coverage=None))
    swapped = replace(
        pool,
        coverage=pool.features,
        labelled=replace(pool.labelled, coverage=pool.labelled.features),
        outliers=replace(pool.outliers, coverage=pool.outliers.features),
    )
    rng = np.random.default_rng(0)
    assert Herding().select(bare, 9, rng).ids == Herding().select(swapped, 9, rng).ids


def test_what_is_labelled_already_is_not_worth_covering() -> None:
    # Two clumps of equal size and doubt; the labelled image sits in the first.
    pool = ordered_pool(20, n_labelled=1)
    clump = torch.arange(20) // 10
    x = torch.eye(24, dtype=torch.float64)[clump]
    flat = torch.zeros_like(pool.global_logits)
    pool = replace(
        pool,
        coverage=x,
        global_logits=flat,
        labelled=replace(pool.labelled, coverage=x[:1]),
    )
    query = Herding(bandwidth=0.5).select(pool, 1, np.random.default_rng(0))
    assert int(query.ids[0]) == 10
    assert query.scores["covered"].tolist() == pytest.approx([1.0] * 10 + [math.exp(-8)] * 10)
