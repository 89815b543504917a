import math
from dataclasses import replace

import numpy as np
import pytest
import torch

from fidal.checks.pools import make_pool
from fidal.strategies.pal import PAL, id_score
from fidal.types import Outliers, Pool, Query


def select(pool: Pool, budget: int, strategy: PAL | None = None) -> Query:
    return (strategy or PAL()).select(pool, budget, np.random.default_rng(0))


def chosen(query: Query) -> list[int]:
    return [int(i) for i in query.ids]


def made(n: int = 120, n_ood: int = 40) -> Pool:
    """A pool in the order of its ids whose last `n_ood` candidates are pseudo-OOD."""
    pool = make_pool(n=n, dtype=torch.float64, seed=2).pool
    meta = pool.outputs["meta"].clone()
    meta[:, -1] = -99
    meta[n - n_ood :, -1] = 99
    return replace(
        pool, ids=tuple(f"{i:04d}" for i in range(n)), outputs={**pool.outputs, "meta": meta}
    )


def without_outliers(pool: Pool) -> Pool:
    assert pool.outliers.coverage is not None
    return replace(pool, outliers=Outliers(pool.outliers.features[:0], pool.outliers.coverage[:0]))


def naive_un(pool: Pool, pseudo_ood: list[bool]) -> list[float]:
    un = []
    for i, row in enumerate(pool.outputs["open"].tolist()):
        k = len(row) // 2
        q = max(1 / (1 + math.exp(row[c + k] - row[c])) for c in range(k))
        s = 2.5 * (1 + q * math.log(q))
        w = float(pool.outputs["weight"][i, 0])
        un.append(w + 0.6 * ((1 - s) if pseudo_ood[i] else s))
    return un


def test_id_score_by_hand() -> None:
    # Two pairs of logits, ln 3 apart: p(not) = 3/4 and 1/2, so q = 3/4.
    score = id_score(torch.tensor([[math.log(3), 0.0, 0.0, 0.0]]))
    assert float(score) == pytest.approx(2.5 * (1 + 0.75 * math.log(0.75)))
    assert float(id_score(torch.tensor([[99.0, 0.0, 0.0, 0.0]]))) == pytest.approx(2.5)


@pytest.mark.parametrize(("budget", "n_id"), [(60, 58), (30, 29), (1, 1)])
def test_later_rounds_against_a_naive_reading(budget: int, n_id: int) -> None:
    pool = made()
    un = naive_un(pool, [i >= 80 for i in range(120)])
    known = sorted(range(80), key=lambda i: -un[i])[:n_id]
    foreign = sorted(range(80, 120), key=lambda i: un[i])[: budget - n_id]
    query = select(pool, budget)
    assert chosen(query) == known + foreign
    assert query.scores["score"].tolist() == pytest.approx(un)
    assert query.diagnosis.filled == 0


def test_five_hundred_places_are_483_and_17() -> None:
    pool = made(n=700, n_ood=100)
    assert sum(i >= 600 for i in chosen(select(pool, 500))) == 17


def test_the_pseudo_ood_of_smallest_not_largest_un_are_asked() -> None:
    pool = made()
    foreign = [i for i in chosen(select(pool, 60)) if i >= 80]
    un = select(pool, 60).scores["score"]
    assert sorted(un[foreign].tolist()) == un[80:].sort().values[:2].tolist()


def test_missing_pseudo_ood_are_made_up_for_by_the_largest_remaining() -> None:
    pool = made(n_ood=1)
    query = select(pool, 90)  # 87 + 3 places, but a single pseudo-OOD
    un = query.scores["score"]
    best = un[:119].sort(descending=True, stable=True).indices.tolist()
    assert chosen(query) == [*best[:87], 119, *best[87:89]]
    assert query.diagnosis.filled == 2


def test_missing_pseudo_id_are_made_up_for_by_the_largest_remaining() -> None:
    pool = made(n_ood=110)
    query = select(pool, 60)  # 58 + 2 places, but ten pseudo-ID
    un = query.scores["score"]
    ascending = (un[10:].sort(stable=True).indices + 10).tolist()
    assert set(chosen(query)[:10]) == set(range(10))
    assert chosen(query)[10:12] == ascending[:2]
    assert chosen(query)[12:] == ascending[::-1][:48]
    assert query.diagnosis.filled == 48


def test_first_round_takes_both_ends_and_knows_no_pseudo_ood() -> None:
    pool = without_outliers(made())
    un = naive_un(pool, [False] * 120)
    ascending = sorted(range(120), key=lambda i: un[i])
    query = select(pool, 20)
    assert chosen(query) == ascending[:16] + ascending[::-1][:4]
    assert query.scores["score"].tolist() == pytest.approx(un)
    assert "first round" in query.diagnosis.notes[0]
    assert sorted(chosen(select(pool, 120))) == list(range(120))


def test_miu_weighs_the_similarity() -> None:
    # With miu 0 only WNet's weight counts.
    pool = made(n_ood=0)
    weight = pool.outputs["weight"].squeeze(1)
    best = weight.sort(descending=True, stable=True).indices[:29].tolist()
    assert chosen(select(pool, 29, PAL(miu=0, id_share=1))) == best
    assert chosen(select(pool, 29, PAL(miu=5, id_share=1))) != best
