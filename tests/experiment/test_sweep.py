from pathlib import Path

import pytest

from fidal.experiment.config import ConfigError
from fidal.experiment.sweep import expand, run_all
from fidal.rows import read

TABLE = {
    "name": "x",
    "rounds": 1,
    "budget": 4,
    "benchmark": {"name": "phantom", "train_per_site": 24, "test_per_site": 8, "pixels": 32},
    "training": {"rounds": 1, "batch_size": 8, "device": "cpu"},
    "strategy": "random",
}


def test_a_sweep_is_the_product_of_its_lists_the_last_varying_fastest() -> None:
    table = {**TABLE, "sweep": {"strategy": ["random", "entropy"], "seed": [0, 1]}}
    assert [(e.strategy.name, e.seed) for e in expand(table)] == [
        ("random", 0),
        ("random", 1),
        ("entropy", 0),
        ("entropy", 1),
    ]


def test_a_file_without_a_sweep_is_one_experiment() -> None:
    assert [e.strategy.name for e in expand(TABLE)] == ["random"]


def test_dotted_keys_reach_into_parts() -> None:
    table = {**TABLE, "strategy": "fidal", "sweep": {"strategy.lambda_div": [0, 2.0]}}
    assert [e.strategy.lambda_div for e in expand(table)] == [0, 2.0]  # type: ignore[attr-defined]


def test_a_value_that_is_no_list_is_an_error() -> None:
    with pytest.raises(ConfigError, match=r"sweep\.seed is 3"):
        expand({**TABLE, "sweep": {"seed": 3}})


def test_runs_have_names_of_their_own_and_one_that_fails_does_not_end_the_sweep(
    tmp_path: Path,
) -> None:
    table = {**TABLE, "sweep": {"network.kind": ["linear", "small-cnn"]}}
    failed, done = run_all(expand(table), tmp_path / "runs", tmp_path / "cache")
    assert failed.error is not None and "does not take images" in failed.error
    assert done.error is None
    rows = read(done.run.folder.rounds)
    assert [row["round"] for row in rows if row["site"] == "*"] == [0, 1]
    assert failed.run.folder.path != done.run.folder.path
