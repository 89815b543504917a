import math
from dataclasses import replace

import numpy as np
import pytest
import torch

from fidal.checks.pools import make_pool
from fidal.strategies.entropy import Entropy


def naive_entropy(row: list[float]) -> float:
    e = [math.exp(x - max(row)) for x in row]
    return -sum(x / sum(e) * math.log(x / sum(e)) for x in e)


def test_takes_the_largest_entropies_of_the_global_model() -> None:
    pool = make_pool(dtype=torch.float64).pool
    want = [naive_entropy(row) for row in pool.global_logits.tolist()]
    query = Entropy().select(pool, 20, np.random.default_rng(0))
    ranked = sorted(range(len(want)), key=lambda i: -want[i])
    assert query.ids == tuple(pool.ids[i] for i in ranked[:20])
    assert query.scores["entropy"].tolist() == pytest.approx(want)


def test_the_local_model_does_not_matter() -> None:
    pool = make_pool().pool
    other = replace(pool, local_logits=-3 * pool.local_logits)
    rng = np.random.default_rng(0)
    assert Entropy().select(pool, 20, rng).ids == Entropy().select(other, 20, rng).ids


def test_of_equally_uncertain_candidates_the_lower_id_comes_first() -> None:
    pool = make_pool(n=12).pool
    alike = replace(pool, global_logits=torch.ones_like(pool.global_logits))
    query = Entropy().select(alike, 5, np.random.default_rng(0))
    assert query.ids == tuple(sorted(pool.ids)[:5])
