"""The pools of the contracts are what they say: else the contracts would be checked on nothing."""

import numpy as np
import pytest
import torch
from torch import Tensor

from fidal.checks.contract import tensors
from fidal.checks.pools import make_pool
from fidal.gates.diagnosis import auroc
from fidal.strategies.admission import admit
from fidal.types import Pool

OPTIONAL = ("coverage", "prompts", "global_features")
OUTPUTS = ("detector", "binary", "meta", "open", "weight", "spatial")


def admitted(pool: Pool) -> bool:
    admit(pool, 5, "any", OPTIONAL, OUTPUTS)
    return True


@pytest.mark.parametrize(
    "choices", [{}, {"n": 1, "n_labelled": 0, "n_outliers": 0}, {"classes": 1}]
)
def test_a_pool_is_whole_and_has_all_that_any_strategy_needs(choices: dict[str, int]) -> None:
    assert admitted(make_pool(**choices).pool)  # type: ignore[arg-type]


def test_it_is_as_large_as_asked_for() -> None:
    made = make_pool(50, n_labelled=20, n_outliers=7, classes=3, width=5, coverage_width=9)
    pool = made.pool
    assert len(pool.ids) == len(set(pool.ids)) == len(made.is_outlier) == 50
    assert pool.global_logits.shape == (50, 3) and pool.features.shape == (50, 5)
    assert pool.coverage is not None and pool.coverage.shape == (50, 9)
    assert len(pool.labelled.labels) == 20 and len(pool.outliers.features) == 7
    assert set(pool.labelled.labels.tolist()) == {0, 1, 2}


def test_ids_are_in_random_order() -> None:
    ids = make_pool().pool.ids
    assert list(ids) != sorted(ids) and list(ids) != sorted(ids, reverse=True)


def test_the_seed_decides_and_nothing_else() -> None:
    one, other = make_pool(seed=1).pool, make_pool(seed=2).pool
    torch.rand(3)
    again = make_pool(seed=1).pool
    assert again.ids == one.ids
    assert all(torch.equal(a, b) for a, b in zip(tensors(again), tensors(one), strict=True))
    assert not torch.equal(one.features, other.features)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_all_that_floats_is_of_one_type(dtype: torch.dtype) -> None:
    floating = [x for x in tensors(make_pool(dtype=dtype).pool) if x.is_floating_point()]
    assert {x.dtype for x in floating} == {dtype}


@pytest.mark.parametrize("share", [0.0, 0.2, 0.6])
def test_outliers_have_their_share(share: float) -> None:
    found = float(make_pool(2000, ood_share=share).is_outlier.double().mean())
    assert found == pytest.approx(share, abs=0.04)  # four standard deviations


def recognised(score: Tensor, is_outlier: Tensor) -> float:
    """AUROC of a score that ought to be higher inside."""
    inside, outside = score[~is_outlier].numpy(), score[is_outlier].numpy()
    return auroc(np.sort(inside), np.sort(outside))


def nearness(x: Tensor, known: Tensor) -> Tensor:
    return -torch.cdist(x, known).amin(1)


@pytest.mark.parametrize(("distance", "low", "high"), [(6.0, 0.99, 1.0), (0.0, 0.4, 0.6)])
def test_distance_is_what_sets_outliers_apart_in_coverage(
    distance: float, low: float, high: float
) -> None:
    made = make_pool(400, distance=distance, seed=3)
    assert made.pool.coverage is not None and made.pool.labelled.coverage is not None
    near = nearness(made.pool.coverage, made.pool.labelled.coverage)
    assert low <= recognised(near, made.is_outlier) <= high


def test_the_local_models_features_tell_them_less_well() -> None:
    made = make_pool(400)
    kin = nearness(made.pool.features, made.pool.outliers.features)
    strange = nearness(made.pool.features, made.pool.labelled.features)
    assert 0.5 < recognised(strange, made.is_outlier) < recognised(-kin, made.is_outlier) < 1


def test_prompts_are_right_more_often_than_not_and_not_always() -> None:
    made = make_pool(1000)
    assert made.pool.prompts is not None
    prompts = made.pool.prompts
    inside = torch.tensor(prompts.in_distribution)[prompts.logits.argmax(1)]
    right = float((inside == ~made.is_outlier).double().mean())
    assert 0.6 < right < 0.95
