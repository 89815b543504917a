import math
from dataclasses import replace

import numpy as np
import pytest
import torch
from torch import Tensor

from fidal.checks.pools import make_pool
from fidal.neighbours.finch import clusters, partitions
from fidal.strategies.eoal import EOAL, outlier_entropy
from fidal.types import Outliers, Pool, Query


def select(pool: Pool, budget: int) -> Query:
    return EOAL().select(pool, budget, np.random.default_rng(0))


def by_id(pool: Pool) -> Pool:
    """The same pool with ids in the order of its rows, so that rows and ids are one."""
    return replace(pool, ids=tuple(f"{i:04d}" for i in range(len(pool.ids))))


def chosen(query: Query) -> list[int]:
    return [int(i) for i in query.ids]


def h(p: float) -> float:
    return -sum(q * math.log(q) for q in (p, 1 - p) if q > 0)


def naive_score(pool: Pool) -> list[float]:
    """E_c - E_u by loops; the clusters are those of `finch`, which has its own tests."""
    classes = pool.global_logits.shape[1]
    outliers = pool.outliers.features
    label = clusters(outliers, classes).tolist()
    k = max(label) + 1
    centres = [
        torch.stack([f for f, at in zip(outliers, label, strict=True) if at == j]).mean(0)
        for j in range(k)
    ]
    score = []
    for f, logits in zip(pool.features, pool.outputs["binary"].tolist(), strict=True):
        p = [1 / (1 + math.exp(logits[c] - logits[c + classes])) for c in range(classes)]
        closed = sum(h(q) for q in p) / classes / math.log(2)
        near = [math.exp(-math.dist(f.tolist(), centre.tolist())) for centre in centres]
        q = [x / sum(near) for x in near]
        score.append(closed + sum(x * math.log(x) for x in q if x > 0) / math.log(k))
    return score


def naive_choice(pool: Pool, score: list[float], budget: int) -> list[int]:
    """Steps 3 and 4 of EOAL by loops: passes of equal quota, the last of them cut off by s."""
    known = [i for i in range(len(score)) if int(pool.outputs["detector"][i].argmax()) < 4]
    for label in partitions(pool.features[known]):
        k = int(label.max()) + 1
        if k <= budget:
            break
    groups = [
        sorted(
            (i for i, at in zip(known, label.tolist(), strict=True) if at == j),
            key=lambda i: score[i],
        )
        for j in range(k)
    ]
    quota, taken = min(budget, len(known)) // k, []
    while any(groups) and len(taken) < budget:
        now = sorted((i for group in groups for i in group[:quota]), key=lambda i: score[i])
        groups = [group[quota:] for group in groups]
        taken += now
    rejected = sorted(set(range(len(score))) - set(known), key=lambda i: score[i])
    return (taken + rejected)[:budget]


@pytest.mark.parametrize("budget", [1, 7, 30, 80, 115])
def test_scores_and_choice_against_a_naive_reading(budget: int) -> None:
    pool = by_id(make_pool(dtype=torch.float64, seed=9).pool)
    assert int((pool.outputs["detector"].argmax(1) == 4).sum()) == 28
    query = select(pool, budget)
    score = naive_score(pool)
    assert query.scores["score"].tolist() == pytest.approx(score)
    assert chosen(query) == naive_choice(pool, score, budget)


def known_everywhere(pool: Pool) -> Pool:
    logits = pool.outputs["detector"].clone()
    logits[:, -1] = -99
    return by_id(replace(pool, outputs={**pool.outputs, "detector": logits}))


def test_near_one_kind_of_outlier_is_worse_than_between_them() -> None:
    # Adding E_u, instead of taking it off, would turn this around.
    x = torch.tensor([[9.0, 0.1], [4.5, 4.5], [0.1, 9.0], [4.6, 4.5]])
    pool = known_everywhere(make_pool(n=4, classes=2, width=2).pool)
    pool = replace(
        pool,
        features=x,
        outliers=Outliers(
            torch.tensor([[9.0, 0.0], [9.0, 0.2], [0.0, 9.0], [0.2, 9.0]]), torch.zeros(4, 24)
        ),
        outputs={**pool.outputs, "binary": torch.zeros(4, 4)},
    )
    assert set(chosen(select(pool, 2))) == {1, 3}


def test_without_outliers_the_surest_heads_win() -> None:
    pool = known_everywhere(make_pool(n=4, classes=2, n_outliers=0).pool)
    sure, torn = [-9.0, 9.0, 9.0, -9.0], [0.0] * 4
    pool = replace(
        pool,
        features=torch.ones_like(pool.features),
        outputs={**pool.outputs, "binary": torch.tensor([torn, sure, torn, sure])},
    )
    query = select(pool, 2)
    assert set(chosen(query)) == {1, 3}
    assert query.scores["outlier_entropy"].tolist() == [0] * 4
    assert query.scores["closed_entropy"].tolist() == pytest.approx([1, 0, 1, 0], abs=1e-5)


def test_every_cluster_gets_its_quota() -> None:
    # Three directions of 40, 10 and 10; the 40 have the smallest s and must not take all.
    generator = torch.Generator().manual_seed(0)
    x = torch.eye(3).repeat_interleave(torch.tensor([40, 10, 10]), 0) * 10
    x += 0.1 * torch.randn(60, 3, generator=generator)
    pool = known_everywhere(make_pool(n=60, classes=2, width=3, n_outliers=0).pool)
    doubt = torch.cat([torch.linspace(9, 8, 40), torch.linspace(1, 0, 20)])
    binary = torch.stack([-doubt, doubt, doubt, -doubt], 1)
    pool = replace(pool, features=x, outputs={**pool.outputs, "binary": binary})
    cluster = next(c for c in partitions(x) if int(c.max()) < 8).tolist()
    assert sorted(set(cluster)) == [0, 1, 2, 3]
    s = select(pool, 8).scores["score"]
    best = [sorted((i for i in range(60) if cluster[i] == j), key=s.__getitem__) for j in range(4)]
    assert set(chosen(select(pool, 8))) == {i for group in best for i in group[:2]}


def test_all_rejected_takes_the_smallest_score() -> None:
    pool = by_id(make_pool().pool)
    logits = torch.zeros_like(pool.outputs["detector"])
    logits[:, -1] = 1
    pool = replace(pool, outputs={**pool.outputs, "detector": logits})
    query = select(pool, 10)
    assert chosen(query) == query.scores["score"].sort(stable=True).indices[:10].tolist()
    assert query.diagnosis.filled == 10


def test_too_few_known_are_all_taken_before_the_rejected() -> None:
    pool = by_id(make_pool().pool)
    logits = torch.zeros_like(pool.outputs["detector"])
    logits[7:, -1] = 1
    pool = replace(pool, outputs={**pool.outputs, "detector": logits})
    query = select(pool, 12)
    assert set(chosen(query)[:7]) == set(range(7))
    assert query.diagnosis.filled == 5


def test_outlier_entropy_lies_in_the_unit_interval_and_needs_two_clusters() -> None:
    def draw(n: int) -> Tensor:
        return torch.randn(n, 5, generator=torch.Generator().manual_seed(n))

    entropy = outlier_entropy(draw(30), draw(9), classes=4)
    assert 0 <= float(entropy.min()) < float(entropy.max()) <= 1
    for m, classes in ((0, 4), (1, 4), (9, 1)):
        assert outlier_entropy(draw(30), draw(m), classes).tolist() == [0] * 30
