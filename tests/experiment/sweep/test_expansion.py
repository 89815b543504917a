import itertools
from collections.abc import Sequence
from typing import Any

import pytest

from fidal.experiment.config import ConfigError, Experiment, with_settings
from fidal.experiment.sweep.expansion import expand, part

TABLE: dict[str, Any] = {"name": "x", "benchmark": "phantom", "strategy": "random"}


def swept(**sweep: object) -> dict[str, Any]:
    return {**TABLE, "sweep": sweep}


def named(experiments: Sequence[Experiment]) -> list[tuple[str, int]]:
    return [(e.strategy.name, e.seed) for e in experiments]


def test_a_sweep_is_the_product_of_its_lists_the_last_varying_fastest() -> None:
    assert named(expand(swept(strategy=["random", "entropy"], seed=[0, 1]))) == [
        ("random", 0),
        ("random", 1),
        ("entropy", 0),
        ("entropy", 1),
    ]


def test_a_file_without_a_sweep_is_one_experiment() -> None:
    assert named(expand(TABLE)) == [("random", 0)]


def test_lists_that_go_together_are_one_axis_of_the_product() -> None:
    found = expand(
        swept(seed=[0, 1], together=[{"budget": [5, 9], "training": {"rounds": [2, 1]}}])
    )
    assert [(e.seed, e.budget, e.training.rounds) for e in found] == [
        (0, 5, 2),
        (0, 9, 1),
        (1, 5, 2),
        (1, 9, 1),
    ]


@pytest.mark.parametrize("order", list(itertools.permutations(["strategy", "strategy.lambda_div"])))
def test_a_part_is_put_before_its_fields_whatever_the_order(order: tuple[str, ...]) -> None:
    values = {"strategy": ["fidal", "fidal-paper"], "strategy.lambda_div": [0.5, 2.0]}
    found = expand(swept(**{key: values[key] for key in order}))
    assert sorted((e.strategy.name, e.strategy.lambda_div) for e in found) == [  # type: ignore[attr-defined]
        ("fidal", 0.5),
        ("fidal", 2.0),
        ("fidal-paper", 0.5),
        ("fidal-paper", 2.0),
    ]


def test_equal_combinations_are_one_experiment() -> None:
    found = expand(swept(strategy=["fidal", {"name": "fidal", "lambda_div": 5.0}, "random"]))
    assert named(found) == [("fidal", 0), ("random", 0)]


def test_every_experiment_has_an_id_of_its_content() -> None:
    first, second = expand(swept(seed=[0, 1]))
    again, _ = expand(swept(seed=[0, 2]))
    assert first.run_name != second.run_name and first.run_name == again.run_name


def test_what_is_set_is_no_longer_swept() -> None:
    table = swept(strategy=["random", "fidal"], together=[{"seed": [0, 1], "budget": [5, 9]}])
    assert named(expand(with_settings(table, ["strategy=badge"]))) == [("badge", 0), ("badge", 1)]
    found = expand(with_settings(table, ["budget=7", "strategy=badge"]))
    assert [(e.seed, e.budget) for e in found] == [(0, 7), (1, 7)]
    assert named(expand(with_settings(table, ["seed=3", "budget=7", "strategy=badge"]))) == [
        ("badge", 3)
    ]


def test_a_field_of_a_swept_part_can_not_be_set_alone() -> None:
    for table in (swept(strategy=["fidal"]), swept(together=[{"strategy": ["fidal"]}])):
        with pytest.raises(ConfigError, match=r"varies 'strategy'; --set strategy=\.\.\. first"):
            with_settings(table, ["strategy.lambda_div=1"])


@pytest.mark.parametrize(
    ("sweep", "says"),
    [
        ({"sead": [1]}, "sead: unknown key; did you mean 'seed'"),
        ({"training.epoch": [1]}, "training.epoch: unknown key; did you mean 'epochs'"),
        ({"strategy": ["fidl"]}, "unknown strategy 'fidl'; did you mean 'fidal'"),
        (
            {"strategy": ["fidal", "random"], "strategy.lambda_div": [2.0]},
            r"lambda_div: unknown key.*combination strategy=random, strategy.lambda_div=2\.0\)",
        ),
        ({"together": [{"seed": [0, 1], "rounds": [1, 0]}]}, r"combination seed=1, rounds=0\)"),
    ],
)
def test_what_can_not_be_run_names_the_key_and_the_combination(
    sweep: dict[str, object], says: str
) -> None:
    with pytest.raises(ConfigError, match=says):
        expand(swept(**sweep))


@pytest.mark.parametrize("of", [1, 2, 3, 7, 20])
def test_parts_together_are_everything_once_and_differ_by_one_at_most(of: int) -> None:
    every = expand(swept(strategy=["random", "entropy", "margin"], seed=[0, 1, 2, 3]))
    parts = [part(every, number, of) for number in range(1, of + 1)]
    assert sorted(e.run_name for own in parts for e in own) == sorted(e.run_name for e in every)
    assert max(map(len, parts)) - min(map(len, parts)) <= 1
