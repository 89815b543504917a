import math
from dataclasses import replace

import numpy as np
import pytest
import torch

from fidal.checks.pools import make_pool
from fidal.strategies.margin import Margin


def naive_gap(row: list[float]) -> float:
    e = sorted((math.exp(x - max(row)) for x in row), reverse=True)
    return (e[0] - e[1]) / sum(e)


def test_takes_the_smallest_gaps_of_the_global_model() -> None:
    pool = make_pool(dtype=torch.float64).pool
    gap = [naive_gap(row) for row in pool.global_logits.tolist()]
    query = Margin().select(pool, 20, np.random.default_rng(0))
    ranked = sorted(range(len(gap)), key=gap.__getitem__)
    assert query.ids == tuple(pool.ids[i] for i in ranked[:20])
    assert query.scores["margin"].tolist() == pytest.approx([1 - g for g in gap])


def test_differs_from_entropy_where_three_classes_compete() -> None:
    # (0.5, 0.5, 0) is a tie with entropy 0.69; (0.4, 0.3, 0.3) has a gap of 0.1 and entropy 1.09.
    pool = make_pool(n=2, classes=3).pool
    logits = torch.tensor([[0.5, 0.5, 1e-9], [0.4, 0.3, 0.3]]).log()
    query = Margin().select(replace(pool, global_logits=logits), 1, np.random.default_rng(0))
    assert query.ids == (pool.ids[0],)


def test_the_local_model_does_not_matter() -> None:
    pool = make_pool().pool
    other = replace(pool, local_logits=-3 * pool.local_logits)
    rng = np.random.default_rng(0)
    assert Margin().select(pool, 20, rng).ids == Margin().select(other, 20, rng).ids
