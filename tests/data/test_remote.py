from pathlib import Path

import pytest

from fidal.data.benchmark import DataAbsent
from fidal.experiment.config import ConfigError, make_experiment


def test_it_says_what_the_network_must_know_and_loads_nothing(tmp_path: Path) -> None:
    remote = {"name": "remote", "classes": ["mel", "nv"], "shape": [64, 64, 3]}
    experiment = make_experiment({"name": "x", "strategy": "random", "benchmark": remote})
    with pytest.raises(DataAbsent, match="run by `fidal federation run`"):
        experiment.benchmark.load(tmp_path)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("shape", [[64, 64], [64, 64, 1], [0], []])
def test_other_shapes_are_refused(shape: list[int]) -> None:
    remote = {"name": "remote", "classes": ["mel", "nv"], "shape": shape}
    with pytest.raises(ConfigError, match=r"benchmark.*neither \[height, width, 3\] nor \[d\]"):
        make_experiment({"name": "x", "strategy": "random", "benchmark": remote})
