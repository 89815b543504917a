import math
from dataclasses import replace

import numpy as np
import torch

from fidal.checks.pools import make_pool
from fidal.neighbours.clustering import k_means
from fidal.strategies.logo import LoGo, local_embedding
from fidal.types import Pool
from fidal.uncertainty import entropy


def ordered_pool(n: int = 90) -> Pool:
    """Ids in the order of the rows, so that the pool reaches `pick` as it is."""
    pool = make_pool(n=n, dtype=torch.float64).pool
    return replace(pool, ids=tuple(f"{i:04d}" for i in range(n)))


def test_local_embedding_by_hand() -> None:
    # Softmax of (ln 3, 0) is (3/4, 1/4): the features shrink to a quarter.
    logits, features = torch.tensor([[math.log(3), 0.0]]), torch.tensor([[4.0, -8.0, 0.0]])
    torch.testing.assert_close(local_embedding(logits, features), torch.tensor([[1.0, -2.0, 0.0]]))


def test_local_embedding_is_a_block_of_the_loss_gradient() -> None:
    # d CE(W f, y_hat) / dW has the rows (p_c - [c = y_hat]) f; the row of y_hat is -(1 - p_max) f.
    rng = np.random.default_rng(0)
    f = torch.from_numpy(rng.normal(size=7))
    W = torch.from_numpy(rng.normal(size=(4, 7))).requires_grad_()
    logits = (W @ f)[None]
    predicted = logits.argmax(1)
    torch.nn.functional.cross_entropy(logits, predicted).backward()
    assert W.grad is not None
    torch.testing.assert_close(-W.grad[predicted], local_embedding(logits.detach(), f[None]))


def test_one_per_cluster_by_global_entropy_and_then_the_next() -> None:
    pool = ordered_pool()
    budget = 12
    embedding = local_embedding(pool.local_logits, pool.features)
    _, cluster = k_means(embedding, budget, np.random.default_rng(5))
    doubt = entropy(pool.global_logits).tolist()
    members = [[i for i in range(90) if cluster[i] == c] for c in range(budget)]
    want: list[int] = []
    while len(want) < budget:
        round_of = [
            max((i for i in m if i not in want), key=doubt.__getitem__) for m in members if m
        ]
        want += sorted(round_of, key=lambda i: -doubt[i])
    query = LoGo().select(pool, budget, np.random.default_rng(5))
    assert query.ids == tuple(pool.ids[i] for i in want[:budget])


def test_clusters_that_ran_empty_do_not_shorten_the_query() -> None:
    # Two distinct local embeddings make two clusters at most, whatever the budget.
    pool = ordered_pool(20)
    kind = torch.arange(20) % 2
    pool = replace(
        pool,
        features=torch.eye(16, dtype=torch.float64)[kind],
        local_logits=torch.zeros_like(pool.local_logits),
    )
    query = LoGo().select(pool, 6, np.random.default_rng(0))
    kinds = [int(query_id) % 2 for query_id in query.ids]
    # One of each kind in every turn, the more uncertain first.
    assert [set(kinds[i : i + 2]) for i in (0, 2, 4)] == [{0, 1}] * 3
    doubt = entropy(pool.global_logits)
    best = [int(doubt[kind == k].argmax()) * 2 + k for k in (0, 1)]
    assert {int(i) for i in query.ids[:2]} == set(best)


def test_micro_step_asks_the_global_and_macro_step_the_local_model() -> None:
    pool, rng = ordered_pool(), np.random.default_rng
    plain = LoGo().select(pool, 12, rng(0)).ids
    for field in ("global_logits", "local_logits", "features"):
        other = replace(pool, **{field: getattr(pool, field).flip(0)})
        assert LoGo().select(other, 12, rng(0)).ids != plain
