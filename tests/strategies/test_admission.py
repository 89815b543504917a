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


@pytest.mark.parametrize(
    ("of", "field"),
    [
        ("labelled", "features"),
        ("labelled", "coverage"),
        ("labelled", "global_features"),
        ("outliers", "features"),
        ("outliers", "coverage"),
    ],
)
def test_of_labelled_images_and_outliers_as_well(of: str, field: str) -> None:
    pool = make_pool().pool
    known = getattr(pool, of)
    bad = replace(known, **{field: poisoned(getattr(known, field), float("nan"))})
    said = refusal(replace(pool, **{of: bad}))
    assert said == f"site 'clinic-a': {of}.{field} has NaN or infinite values in 2 rows"


def test_of_what_only_some_strategies_look_at_as_well() -> None:
    pool, nan = make_pool().pool, float("nan")
    assert pool.global_features is not None and pool.prompts is not None
    outputs = {**pool.outputs, "spatial": poisoned(pool.outputs["spatial"], nan)}
    prompts = replace(pool.prompts, logits=poisoned(pool.prompts.logits, nan))
    for field, bad in (
        ("global_features", replace(pool, global_features=poisoned(pool.global_features, nan))),
        ("outputs['spatial']", replace(pool, outputs=outputs)),
        ("prompts.logits", replace(pool, prompts=prompts)),
    ):
        assert refusal(bad) == f"site 'clinic-a': {field} has NaN or infinite values in 2 rows"


def test_sums_that_overflow_are_no_infinite_values() -> None:
    pool = make_pool().pool
    huge = torch.full_like(pool.features, 3e38)  # finite, and their sum is not
    query = Entropy().select(replace(pool, features=huge), 5, np.random.default_rng(0))
    assert len(query.ids) == 5


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


def test_rows_of_every_set_are_counted_against_their_own() -> None:
    pool = make_pool().pool
    known, foreign = pool.labelled, pool.outliers
    assert foreign.coverage is not None and pool.prompts is not None
    short = replace(foreign, coverage=foreign.coverage[:-1])
    assert (
        refusal(replace(pool, outliers=short))
        == "site 'clinic-a': outliers.coverage has 14 rows for 15 outliers"
    )
    drawn = replace(known, random_draw=torch.ones(3, dtype=torch.bool))
    assert (
        refusal(replace(pool, labelled=drawn))
        == "site 'clinic-a': labelled.random_draw has 3 rows for 40 labelled images"
    )
    prompts = replace(pool.prompts, logits=pool.prompts.logits[:-1])
    assert "prompts.logits has 119 rows for 120" in refusal(replace(pool, prompts=prompts))


def test_widths_of_every_set_agree_with_the_candidates() -> None:
    pool = make_pool().pool
    known, prompts = pool.labelled, pool.prompts
    assert known.coverage is not None and known.global_features is not None and prompts is not None
    for bad, says in (
        (
            replace(pool, labelled=replace(known, coverage=known.coverage[:, :3])),
            "labelled.coverage has shape (40, 3); its width must be that of coverage, 24",
        ),
        (
            replace(pool, labelled=replace(known, global_features=known.global_features[:, :3])),
            "labelled.global_features has shape (40, 3); its width must be that of "
            "global_features, 16",
        ),
        (
            replace(pool, prompts=replace(prompts, in_distribution=(True, False))),
            "prompts.logits has shape (120, 8); its width must be that of prompts, 2",
        ),
        (replace(pool, labelled=replace(known, coverage=None)), "labelled.coverage is absent"),
        (
            replace(pool, outliers=replace(pool.outliers, coverage=None)),
            "outliers.coverage is absent, coverage is not",
        ),
    ):
        assert f"site 'clinic-a': {says}" in refusal(bad)


def test_labels_that_are_no_class_indices() -> None:
    pool = make_pool().pool
    labels = pool.labelled.labels.float()
    said = refusal(replace(pool, labelled=replace(pool.labelled, labels=labels)))
    assert said.endswith(
        "labelled.labels is torch.float32 of shape (40,); it must be one int64 for each of 40 "
        "images"
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
