from collections.abc import Callable
from dataclasses import replace

import pytest
import torch

from fidal.checks import ContractError, check_secrecy
from fidal.checks.pools import Made, make_pool
from fidal.checks.strategy import odd_pools
from fidal.types import Pool


def test_the_pools_of_the_contracts_hide_their_labels() -> None:
    made = make_pool()
    check_secrecy(made.pool, made.is_outlier)
    truth = make_pool(n=30, n_labelled=12, n_outliers=6).is_outlier
    for pool in odd_pools().values():
        if len(pool.ids) == len(truth):
            check_secrecy(pool, truth)


def as_output(made: Made) -> Pool:
    return replace(made.pool, outputs={**made.pool.outputs, "hint": made.is_outlier})


def as_column(made: Made) -> Pool:
    features = made.pool.features.clone()
    features[:, 3] = made.is_outlier * 7.0 - 2
    return replace(made.pool, features=features)


def as_names(made: Made) -> Pool:
    kind = ["photo" if outlier else "dermoscopy" for outlier in made.is_outlier]
    names = tuple(f"{i}-{word}.png" for i, word in enumerate(kind))
    return replace(made.pool, ids=names)


def as_attribute_of_a_tensor(made: Made) -> Pool:
    features = made.pool.features.clone()
    features.origin = made.is_outlier.tolist()  # type: ignore[attr-defined]
    return replace(made.pool, features=features)


def within_the_labelled(made: Made) -> Pool:
    labelled = replace(made.pool.labelled, random_draw=made.is_outlier)
    return replace(made.pool, labelled=labelled)


@pytest.mark.parametrize(
    ("leak", "place"),
    [
        (as_output, r"pool\.outputs\['hint'\]"),
        (as_column, r"pool\.features"),
        (as_names, r"pool\.ids"),
        (as_attribute_of_a_tensor, r"pool\.features\.origin"),
        (within_the_labelled, r"pool\.labelled\.random_draw"),
    ],
)
def test_a_label_in_a_pool_is_found(leak: Callable[[Made], Pool], place: str) -> None:
    made = make_pool()
    with pytest.raises(ContractError, match=f"clinic-a' tells the labels in {place}$"):
        check_secrecy(leak(made), made.is_outlier)


def test_a_feature_that_separates_well_is_no_label() -> None:
    made = make_pool()
    far = made.pool.features + 100 * made.is_outlier[:, None]
    check_secrecy(replace(made.pool, features=far), made.is_outlier)


def test_constant_columns_and_equal_names_tell_nothing() -> None:
    made = make_pool()
    flat = replace(made.pool, features=torch.ones_like(made.pool.features))
    check_secrecy(flat, made.is_outlier)
