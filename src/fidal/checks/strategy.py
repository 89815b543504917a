"""The contract of a query strategy, one function per clause."""

from dataclasses import replace

import numpy as np
import torch

from fidal.checks.contract import AGREEMENT, ContractError, moved, require, shared, tensors
from fidal.checks.pools import make_pool
from fidal.strategies.admission import reordered, sorted_by_id
from fidal.strategies.base import Strategy
from fidal.types import Labelled, Outliers, Pool, Query

BUDGET = 25


def check_strategy(strategy: Strategy) -> None:
    """Run every clause on pools made for it; raise a ContractError that names the broken one."""
    pool = make_pool().pool
    round_trip(strategy)
    leaves_inputs_alone(strategy, pool)  # first: a second write often changes nothing any more
    right_number_of_ids(strategy, pool)
    deterministic(strategy, pool)
    indifferent_to_order(strategy, pool)
    blind_to_names(strategy, pool)
    same_in_both_precisions(strategy)
    if torch.cuda.is_available():
        same_on_both_devices(strategy, pool)
    for name, odd in odd_pools().items():
        survives(strategy, name, odd)


def _select(strategy: Strategy, pool: Pool, budget: int = BUDGET, seed: int = 7) -> Query:
    return strategy.select(pool, budget, np.random.default_rng(seed))


def round_trip(strategy: Strategy) -> None:
    """What a strategy writes into a configuration builds an equal strategy."""
    table = strategy.model_dump()
    require(table.pop("name") == strategy.name, strategy.name, "does not write its own name")
    require(
        type(strategy)(**table) == strategy, strategy.name, "differs after a round through TOML"
    )


def right_number_of_ids(strategy: Strategy, pool: Pool) -> None:
    """Exactly min(budget, |U|) distinct ids of the pool; scores are per candidate."""
    n = len(pool.ids)
    for budget in (0, 1, BUDGET, n - 1, n, n + 10):
        query = _select(strategy, pool, budget)
        want = min(budget, n)
        require(
            len(query.ids) == want, strategy.name, f"chose {len(query.ids)} of {want} (|U|={n})"
        )
        require(len(set(query.ids)) == want, strategy.name, "chose an id twice")
        require(set(query.ids) <= set(pool.ids), strategy.name, "chose an id outside the pool")
        for name, score in query.scores.items():
            whole = score.shape == (n,)
            require(whole, strategy.name, f"score '{name}' is not one number per candidate")


def deterministic(strategy: Strategy, pool: Pool) -> None:
    """The same pool, budget and seed give the same query, whatever was drawn in between."""
    first = _select(strategy, pool)
    torch.rand(3)
    np.random.default_rng().random(3)
    second = _select(strategy, pool)
    require(first.ids == second.ids, strategy.name, "is not deterministic")
    for name, score in first.scores.items():
        same = torch.equal(score, second.scores[name])
        require(same, strategy.name, f"is not deterministic in score '{name}'")


def indifferent_to_order(strategy: Strategy, pool: Pool) -> None:
    """Listing the candidates in another order changes neither the choice nor the scores."""
    order = torch.from_numpy(np.random.default_rng(3).permutation(len(pool.ids)))
    plain, other = _select(strategy, pool), _select(strategy, reordered(pool, order))
    require(set(plain.ids) == set(other.ids), strategy.name, "depends on the order of the pool")
    for name, score in plain.scores.items():
        require(
            bool(torch.equal(score[order], other.scores[name])),
            strategy.name,
            f"gives score '{name}' in another order than the pool's",
        )


def blind_to_names(strategy: Strategy, pool: Pool) -> None:
    """Ids are opaque: a label could hide in them, so renaming must change nothing."""
    renamed = dict(zip(sorted(pool.ids), (f"{i:06d}" for i in range(len(pool.ids))), strict=True))
    other = _select(strategy, replace(pool, ids=tuple(renamed[i] for i in pool.ids)))
    plain = tuple(renamed[i] for i in _select(strategy, pool).ids)
    require(plain == other.ids, strategy.name, "reads something out of the candidates' ids")


def leaves_inputs_alone(strategy: Strategy, pool: Pool) -> None:
    """No tensor of the pool is written to, though a pool in order of ids is handed on uncopied."""
    _, own = sorted_by_id(pool)
    before = [x.clone() for x in tensors(own)]
    _select(strategy, own)
    same = all(torch.equal(a, b) for a, b in zip(before, tensors(own), strict=True))
    require(same, strategy.name, "modified the pool it was given")


def same_in_both_precisions(strategy: Strategy) -> None:
    """A pool in float64 and the same one rounded to float32 agree up to near-ties."""
    pool = make_pool(dtype=torch.float64).pool
    share = shared(
        _select(strategy, pool).ids, _select(strategy, moved(pool, dtype=torch.float32)).ids
    )
    require(share >= AGREEMENT, strategy.name, f"agrees with itself in float32 on {share:.0%}")


def same_on_both_devices(strategy: Strategy, pool: Pool) -> None:
    """CPU and CUDA agree up to near-ties."""
    share = shared(_select(strategy, pool).ids, _select(strategy, moved(pool, device="cuda")).ids)
    require(share >= AGREEMENT, strategy.name, f"agrees between CPU and CUDA on {share:.0%}")


def odd_pools() -> dict[str, Pool]:
    """Pools at the edge of what a clinic may have."""
    pool = make_pool(n=30, n_labelled=12, n_outliers=6).pool
    assert pool.outliers.coverage is not None
    alike = torch.zeros(len(pool.ids), dtype=torch.int64)
    no_outliers = Outliers(pool.outliers.features[:0], pool.outliers.coverage[:0])
    labels = pool.labelled.labels
    no_draw = replace(pool.labelled, random_draw=torch.zeros_like(labels, dtype=torch.bool))
    return {
        "no labelled outlier": replace(pool, outliers=no_outliers),
        "no labelled ID image": replace(pool, labelled=_first(pool.labelled, 0)),
        "nothing labelled": replace(pool, labelled=_first(pool.labelled, 0), outliers=no_outliers),
        "one labelled ID image": replace(pool, labelled=_first(pool.labelled, 1)),
        "no randomly drawn labelled image": replace(pool, labelled=no_draw),
        "labelled images of one class": replace(
            pool, labelled=replace(pool.labelled, labels=torch.zeros_like(labels))
        ),
        "a single class": make_pool(n=30, n_labelled=12, n_outliers=6, classes=1).pool,
        "constant coverage": _flat_coverage(pool),
        "constant features": _flat_features(pool),
        "constant logits": replace(
            pool,
            global_logits=torch.zeros_like(pool.global_logits),
            local_logits=torch.zeros_like(pool.local_logits),
            outputs={name: torch.zeros_like(x) for name, x in pool.outputs.items()},
        ),
        "identical candidates": replace(reordered(pool, alike), ids=pool.ids),
        "zero features": replace(pool, features=torch.zeros_like(pool.features)),
        "a pool of one": reordered(pool, alike[:1]),
        "a pool of one, nothing labelled": replace(
            reordered(pool, alike[:1]), labelled=_first(pool.labelled, 0), outliers=no_outliers
        ),
    }


def _first(known: Labelled, n: int) -> Labelled:
    """The first n labelled ID images."""
    assert known.coverage is not None and known.global_features is not None
    return Labelled(
        known.features[:n], known.labels[:n], known.coverage[:n], known.global_features[:n]
    )


def _flat_coverage(pool: Pool) -> Pool:
    assert pool.coverage is not None and pool.outliers.coverage is not None
    assert pool.labelled.coverage is not None
    return replace(
        pool,
        coverage=torch.ones_like(pool.coverage),
        labelled=replace(pool.labelled, coverage=torch.ones_like(pool.labelled.coverage)),
        outliers=replace(pool.outliers, coverage=torch.ones_like(pool.outliers.coverage)),
    )


def _flat_features(pool: Pool) -> Pool:
    candidates = torch.ones_like(pool.features)
    labelled = torch.ones_like(pool.labelled.features)
    return replace(
        pool,
        features=candidates,
        global_features=candidates,
        labelled=replace(pool.labelled, features=labelled, global_features=labelled),
        outliers=replace(pool.outliers, features=torch.ones_like(pool.outliers.features)),
    )


def survives(strategy: Strategy, name: str, pool: Pool) -> None:
    """An odd pool gives a whole query, not an exception."""
    for budget in (0, 1, 5, len(pool.ids) + 1):
        try:
            query = _select(strategy, pool, budget)
        except Exception as error:
            raise ContractError(f"'{strategy.name}' fails on {name}: {error!r}") from error
        want = min(budget, len(pool.ids))
        require(
            len(set(query.ids)) == want == len(query.ids),
            strategy.name,
            f"chose {len(query.ids)} ({len(set(query.ids))} distinct) of {want} on {name}",
        )
