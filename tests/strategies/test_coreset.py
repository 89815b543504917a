from dataclasses import replace

import numpy as np
import pytest
import torch
from torch import Tensor

from fidal.checks.pools import make_pool
from fidal.strategies.coreset import CoreSet, feature_distances, from_labelled
from fidal.types import Labelled, Pool


def naive(candidates: Tensor, centres: Tensor, budget: int) -> list[int]:
    taken, chosen = list(centres), []
    for _ in range(budget):
        away = [min(float((x - c).norm()) for c in taken) for x in candidates]
        chosen.append(max((i for i in range(len(away)) if i not in chosen), key=away.__getitem__))
        taken.append(candidates[chosen[-1]])
    return chosen


def without_labelled(pool: Pool) -> Pool:
    known = pool.labelled
    assert known.coverage is not None and known.global_features is not None
    none = Labelled(
        known.features[:0], known.labels[:0], known.coverage[:0], known.global_features[:0]
    )
    return replace(pool, labelled=none)


def test_greedy_k_centre_from_the_labelled() -> None:
    pool = make_pool(n=80, dtype=torch.float64).pool
    order = sorted(range(80), key=pool.ids.__getitem__)
    want = naive(pool.features[order], pool.labelled.features, 15)
    query = CoreSet().select(pool, 15, np.random.default_rng(0))
    assert query.ids == tuple(pool.ids[order[i]] for i in want)
    away = torch.cdist(pool.features, pool.labelled.features).amin(1)
    torch.testing.assert_close(query.scores["distance"], away)


def test_without_labelled_it_begins_in_the_middle() -> None:
    pool = without_labelled(make_pool(dtype=torch.float64).pool)
    query = CoreSet().select(pool, 3, np.random.default_rng(0))
    middle = (pool.features - pool.features.mean(0)).norm(dim=1)
    first = int(middle.argmin())
    second = int((pool.features - pool.features[first]).norm(dim=1).argmax())
    assert query.ids[:2] == (pool.ids[first], pool.ids[second])
    assert len(set(query.ids)) == 3


def test_the_generator_plays_no_part() -> None:
    pool = make_pool().pool
    a, b = (CoreSet().select(pool, 10, np.random.default_rng(seed)).ids for seed in (0, 1))
    assert a == b


@pytest.mark.parametrize("m", [1, 40])
def test_squared_distances(m: int) -> None:
    pool = make_pool(dtype=torch.float64, n_labelled=m).pool
    x, known = pool.features, pool.labelled.features
    want = torch.cdist(x, known, compute_mode="donot_use_mm_for_euclid_dist").amin(1).square()
    torch.testing.assert_close(from_labelled(x, known), want)
    want = (x[[4, 2], None] - x).square().sum(2)
    got = feature_distances(x)(torch.tensor([4, 2]))
    torch.testing.assert_close(got, want, atol=1e-10, rtol=1e-10)
