"""Bad input gets a ValueError that names the field, the site and the count."""

from dataclasses import replace

import numpy as np
import pytest
import torch

from fidal.checks.pools import make_pool
from fidal.strategies.admission import reordered, sorted_by_id
from fidal.strategies.entropy import Entropy
from fidal.strategies.fidal import Fidal
from fidal.strategies.openpath import OpenPath
from fidal.strategies.pal import PAL
from fidal.types import Pool


def refusal(pool: Pool, strategy: object = None, budget: int = 5) -> str:
    chosen = strategy or Fidal()
    with pytest.raises(ValueError) as error:
        chosen.select(pool, budget, np.random.default_rng(0))  # type: ignore[attr-defined]
    return str(error.value)


def poisoned(x: torch.Tensor, value: float) -> torch.Tensor:
    x = x.clone()
    x[3, 2], x[7, 0] = value, value
    return x


@pytest.mark.parametrize("value", [float("nan"), float("inf"), -float("inf")])
@pytest.mark.parametrize("field", ["features", "coverage", "global_logits", "local_logits"])
def test_what_is_not_finite_is_counted(field: str, value: float) -> None:
    pool = make_pool().pool
    said = refusal(replace(pool, **{field: poisoned(getattr(pool, field), value)}))
    assert said == f"site 'clinic-a': {field} has NaN or infinite values in 2 rows"


def test_of_labelled_images_as_well() -> None:
    pool = make_pool().pool
    bad = replace(pool.labelled, features=poisoned(pool.labelled.features, float("nan")))
    assert "labelled.features has NaN" in refusal(replace(pool, labelled=bad))
    foreign = replace(pool.outliers, features=poisoned(pool.outliers.features, float("nan")))
    assert "outliers.features has NaN" in refusal(replace(pool, outliers=foreign))


def test_shapes_that_disagree() -> None:
    pool = make_pool().pool
    assert (
        refusal(replace(pool, features=pool.features[:-2]))
        == "site 'clinic-a': features has 118 rows for 120 candidates"
    )
    assert "its width must be that of global_logits, 4" in refusal(
        replace(pool, local_logits=pool.local_logits[:, :3])
    )
    narrow = replace(pool.outliers, features=pool.outliers.features[:, :5])
    assert "outliers.features has shape (15, 5); its width must be that of features, 16" in refusal(
        replace(pool, outliers=narrow)
    )


def test_duplicate_ids() -> None:
    pool = make_pool().pool
    ids = (*pool.ids[:-2], *pool.ids[:2])
    assert "ids holds 2 duplicates" in refusal(replace(pool, ids=ids))


def test_labels_outside_the_classes() -> None:
    pool = make_pool().pool
    labels = pool.labelled.labels.clone()
    labels[:3] = 4
    said = refusal(replace(pool, labelled=replace(pool.labelled, labels=labels)))
    assert said.endswith("labelled.labels has 3 of 40 values outside 0..3")


def test_what_a_strategy_needs_and_where_to_get_it() -> None:
    pool = make_pool().pool
    assert "needs Pool.coverage of the 120 candidates" in refusal(replace(pool, coverage=None))
    assert "give the site prompts" in refusal(replace(pool, prompts=None), OpenPath())
    assert "train the network with that strategy's objective" in refusal(
        replace(pool, outputs={}), PAL()
    )


def test_a_negative_budget() -> None:
    assert "budget is -1; it must be 0 or more" in refusal(make_pool().pool, Entropy(), -1)


def test_a_pool_is_put_in_the_order_of_its_ids_and_nothing_comes_apart() -> None:
    pool = make_pool().pool
    order, ordered = sorted_by_id(pool)
    assert list(ordered.ids) == sorted(pool.ids)
    for name in ("features", "global_logits", "coverage"):
        assert torch.equal(getattr(ordered, name), getattr(pool, name)[torch.from_numpy(order)])
    again, same = sorted_by_id(ordered)
    assert same is ordered and again.tolist() == list(range(120))
    back = reordered(ordered, torch.from_numpy(np.argsort(order)))
    assert back.ids == pool.ids and torch.equal(back.features, pool.features)
