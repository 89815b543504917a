import math
from dataclasses import replace

import numpy as np
import pytest
import torch
from torch import Tensor

from fidal.checks.pools import make_pool
from fidal.strategies.openpath import OpenPath, described, egss, prototype_distance, prototypes
from fidal.types import Labelled, Pool, Prompts, Query


def rng(seed: int = 0) -> np.random.Generator:
    return np.random.default_rng(seed)


def chosen(query: Query) -> list[int]:
    return [int(i) for i in query.ids]


def made(n: int = 200, n_vlm_id: int = 120) -> Pool:
    """A pool in the order of its ids; the prompts say that the first `n_vlm_id` belong here."""
    pool = make_pool(n=n, dtype=torch.float64, seed=4).pool
    assert pool.prompts is not None
    logits = pool.prompts.logits.clone()
    logits[:n_vlm_id, 1] = 99
    logits[n_vlm_id:, 6] = 99
    return replace(
        pool,
        ids=tuple(f"{i:04d}" for i in range(n)),
        prompts=Prompts(logits, pool.prompts.in_distribution),
    )


def naive_distance(pool: Pool) -> list[float]:
    labelled = pool.labelled
    assert labelled.global_features is not None and pool.global_features is not None
    centres = []
    for c in range(pool.global_logits.shape[1]):
        members = [
            f for f, y in zip(labelled.global_features, labelled.labels, strict=True) if y == c
        ]
        if members:
            centres.append(sum(members[1:], members[0]) / len(members))
    return [
        min(1 - float(z @ m) / math.sqrt(float(z @ z) * float(m @ m)) for m in centres)
        for z in pool.global_features
    ]


def naive_entropy(pool: Pool) -> list[float]:
    found = []
    for row in pool.global_logits.tolist():
        z = [math.exp(v - max(row)) for v in row]
        found.append(-sum(v / sum(z) * math.log(v / sum(z)) for v in z))
    return found


def test_the_best_prompt_decides() -> None:
    logits = torch.tensor([[0.9, 0.0, 0.8], [0.1, 0.2, 0.3], [0.0, 0.5, 0.5]])
    prompts = Prompts(logits, (True, True, False))
    assert described(prompts).tolist() == [True, False, True]


def test_distance_and_entropy_against_loops_and_absent_classes_are_skipped() -> None:
    pool = made()
    pool = replace(pool, labelled=replace(pool.labelled, labels=pool.labelled.labels.clamp_max(1)))
    query = OpenPath().select(pool, 20, rng())
    assert query.scores["distance"].tolist() == pytest.approx(naive_distance(pool))
    assert query.scores["entropy"].tolist() == pytest.approx(naive_entropy(pool))
    assert prototypes(pool.labelled, pool.site).shape[0] == 2


def test_candidates_satisfy_prompts_and_prototypes_and_chunks_their_quota() -> None:
    pool = made()
    distance, doubt = naive_distance(pool), naive_entropy(pool)
    near = sorted(range(200), key=lambda i: distance[i])[:50]
    candidates = sorted(i for i in near if i < 120)
    budget = 23
    assert len(candidates) > budget
    shuffled = [candidates[i] for i in rng(5).permutation(len(candidates))]
    want, start = [], 0
    for j in range(10):
        size = len(candidates) // 10 + (j < len(candidates) % 10)
        chunk = sorted(shuffled[start : start + size], key=lambda i: -doubt[i])
        want += chunk[: 2 + (j < 3)]
        start += size
    query = OpenPath().select(pool, budget, rng(5))
    assert chosen(query) == sorted(want, key=lambda i: -doubt[i])
    assert query.diagnosis.filled == 0


def test_a_quarter_is_rounded_up() -> None:
    pool = made(n=7, n_vlm_id=7)
    near = sorted(range(7), key=naive_distance(pool).__getitem__)[:2]  # of 7 / 4 = 1.75
    query = OpenPath().select(pool, 2, rng())
    assert set(chosen(query)) == set(near) and query.diagnosis.filled == 0


def test_the_choice_is_stochastic_not_the_top_entropies() -> None:
    pool = made()
    picks = {frozenset(OpenPath().select(pool, 10, rng(seed)).ids) for seed in range(4)}
    assert len(picks) > 1


def test_too_few_candidates_waive_the_prototypes_first() -> None:
    pool = made()
    query = OpenPath().select(pool, 110, rng())
    assert len(set(chosen(query))) == 110 and max(chosen(query)) < 120
    assert query.diagnosis.filled > 0


def test_then_the_nearest_to_a_prototype_fill() -> None:
    pool = made(n_vlm_id=30)
    distance = naive_distance(pool)
    query = OpenPath().select(pool, 40, rng())
    rest = sorted(range(30, 200), key=lambda i: distance[i])
    assert set(chosen(query)[:30]) == set(range(30))
    assert chosen(query)[30:] == rest[:10]


def test_without_labelled_images_the_prompts_alone_decide() -> None:
    pool = made()
    none = Labelled(pool.features[:0], torch.zeros(0, dtype=torch.int64), torch.zeros(0, 24), None)
    pool = replace(pool, labelled=none)
    first, other = (OpenPath().select(pool, 30, rng(seed)) for seed in (1, 2))
    assert max(chosen(first)) < 120 and set(first.ids) != set(other.ids)
    everyone = chosen(OpenPath().select(pool, 150, rng(1)))
    assert set(everyone[:120]) == set(range(120))
    assert "no labelled ID" in first.diagnosis.notes[0]


def test_labelled_images_without_global_features_are_an_error() -> None:
    pool = made()
    pool = replace(pool, labelled=replace(pool.labelled, global_features=None))
    with pytest.raises(ValueError, match=r"clinic-a.*labelled\.global_features.*40 labelled"):
        OpenPath().select(pool, 5, rng())


def test_absent_prompts_are_an_error() -> None:
    with pytest.raises(ValueError, match=r"Pool\.prompts"):
        OpenPath().select(replace(made(), prompts=None), 5, rng())


@pytest.mark.parametrize("n", [1, 9, 10, 47, 100])
def test_egss_gives_whole_budgets_of_distinct_candidates(n: int) -> None:
    candidates = torch.arange(n) * 3
    doubt = torch.rand(300, generator=torch.Generator().manual_seed(n))
    for budget in {1, 5, n // 2 + 1, n - 1, n, n + 5} - {0}:
        rows = egss(candidates, doubt, budget, 10, rng()).tolist()
        assert len(set(rows)) == len(rows) == min(budget, n)
        assert set(rows) <= set(candidates.tolist())
        assert doubt[rows].tolist() == sorted(doubt[rows].tolist(), reverse=True)


def test_one_chunk_is_plain_top_entropy() -> None:
    doubt: Tensor = torch.rand(50, generator=torch.Generator().manual_seed(0))
    rows = egss(torch.arange(50), doubt, 7, chunks=1, rng=rng())
    assert rows.tolist() == doubt.sort(descending=True).indices[:7].tolist()


def test_distance_is_of_angles() -> None:
    z = torch.tensor([[3.0, 0.0], [0.0, 0.2], [-1.0, 0.0]])
    centre = torch.tensor([[1.0, 0.0], [5.0, 5.0]])
    want = [0, 1 - math.sqrt(0.5), 1 + math.sqrt(0.5)]
    assert prototype_distance(z, centre).tolist() == pytest.approx(want, abs=1e-6)
