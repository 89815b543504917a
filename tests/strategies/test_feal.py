from dataclasses import replace

import numpy as np
import pytest
import torch

from fidal.checks.pools import make_pool
from fidal.learning.objectives.evidential import Evidential
from fidal.strategies.base import top
from fidal.strategies.feal import FEAL
from fidal.types import Pool
from fidal.uncertainty import calibrated


def ordered_pool(n: int = 120, seed: int = 0) -> Pool:
    """Ids in the order of the rows, so that rows can be compared with ids."""
    pool = make_pool(n=n, dtype=torch.float64, seed=seed).pool
    return replace(pool, ids=tuple(f"{i:04d}" for i in range(n)))


def naive_walk(pool: Pool, order: list[int], budget: int, n: int, cosine: float) -> list[int]:
    f = pool.outputs["spatial"].numpy()
    f = f / np.linalg.norm(f, axis=1, keepdims=True)
    taken: list[int] = []
    for i in order:
        others = sorted(((float(f[i] @ f[j]), j) for j in range(len(f)) if j != i), reverse=True)
        near = [j for s, j in others[:n] if s > cosine]
        if len(near) < n or not set(near) & set(taken):
            taken.append(i)
        if len(taken) == budget:
            break
    return taken


@pytest.mark.parametrize("cosine", [0.85, 0.9])
def test_both_stages_against_a_naive_walk(cosine: float) -> None:
    pool = ordered_pool()
    score = calibrated(pool.global_logits, pool.local_logits, "relu", "entropy")
    order = top(score, 120).tolist()
    want = naive_walk(pool, order, 15, 5, cosine)
    query = FEAL(cosine=cosine).select(pool, 15, np.random.default_rng(0))
    assert [int(i) for i in query.ids[: len(want)]] == want
    assert want != order[:15]  # stage 2 did change something
    assert query.diagnosis.filled == 15 - len(want)
    assert torch.equal(query.scores["uncertainty"], score)


def test_without_near_duplicates_only_stage_1_counts() -> None:
    pool = ordered_pool()
    score = calibrated(pool.global_logits, pool.local_logits, "relu", "entropy")
    spread = replace(pool, outputs={"spatial": torch.eye(120, dtype=torch.float64)})
    query = FEAL().select(spread, 30, np.random.default_rng(0))
    assert [int(i) for i in query.ids] == top(score, 30).tolist()
    assert query.diagnosis.terms["visited"] == 30


def test_where_all_look_alike_the_most_uncertain_fill_the_budget() -> None:
    pool = ordered_pool(40)
    alike = torch.ones(40, 9, dtype=torch.float64)
    # Everybody's five neighbours are the same few rows: the walk accepts little.
    query = FEAL().select(replace(pool, outputs={"spatial": alike}), 30, np.random.default_rng(0))
    order = top(query.scores["uncertainty"], 40).tolist()
    chosen = [int(i) for i in query.ids]
    accepted = chosen[: 30 - query.diagnosis.filled]
    assert 0 < query.diagnosis.filled < 30
    assert query.diagnosis.terms["visited"] == 40
    assert chosen[len(accepted) :] == [i for i in order if i not in accepted][: 30 - len(accepted)]


def test_trains_with_its_own_loss_and_needs_its_output() -> None:
    assert FEAL().objective == Evidential()
    pool = ordered_pool()
    with pytest.raises(ValueError, match="spatial"):
        FEAL().select(replace(pool, outputs={}), 5, np.random.default_rng(0))
