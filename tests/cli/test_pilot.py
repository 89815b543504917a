import json
from pathlib import Path

import pytest

from fidal.experiment.config import make_experiment
from tests.cli.calling import call, write_config
from tests.pilot.made import federation

Captured = pytest.CaptureFixture[str]


def test_a_benchmark_is_judged_both_ways_and_written(tmp_path: Path, capfd: Captured) -> None:
    config = write_config(tmp_path / "a.toml", federation(tmp_path))
    out, cache = tmp_path / "out", tmp_path / "cache"
    assert call("pilot", config, "--out", out, "--cache", cache) == 0
    printed, errors = capfd.readouterr()
    assert errors == ""
    lines = printed.splitlines()
    assert lines[0].startswith("east: 36 candidates; labelled ")
    assert "By the labelled warm-up alone, cross-fitted: what a consortium can know." in lines
    assert "By the labels of all candidates: what only a benchmark knows." in lines
    assert sum(line.startswith("knn-cosine\tknown-null\t") for line in lines) == 2
    assert "Recommended by the labels" in lines and "Recommended by the truth" in lines
    assert {path.name for path in out.iterdir()} == {"pilot.csv", "pilot.png"}
    assert len((out / "pilot.csv").read_text().splitlines()) == 1 + 2 * 24


def test_a_pool_of_one_s_own_without_test_images(tmp_path: Path, capfd: Captured) -> None:
    config = write_config(tmp_path / "a.toml", federation(tmp_path, unlabelled=30, test=False))
    assert call("pilot", config, "--cache", tmp_path / "cache", "--json") == 0
    printed, errors = capfd.readouterr()
    found = json.loads(printed)
    assert errors == "" and set(found["recommended"]) == {"labels"}
    assert {trial["truth"] for trial in found["trials"]} == {None}
    assert found["gates"]["truth"] == []
    chosen = found["recommended"]["labels"]
    gate = {"density": chosen["density"], "threshold": chosen["threshold"]}
    strategy = {"name": "fidal", "gate": gate}
    assert make_experiment({"name": "x", "benchmark": "phantom", "strategy": strategy})


def test_a_sweep_s_pilot_is_that_of_its_first_run(tmp_path: Path, capfd: Captured) -> None:
    table = {**federation(tmp_path), "sweep": {"seed": [3, 4]}}
    config = write_config(tmp_path / "a.toml", table)
    assert call("pilot", config, "--cache", tmp_path / "cache") == 0
    swept = capfd.readouterr().out
    assert call("pilot", config, "--cache", tmp_path / "cache", "--set", "seed=3") == 0
    first, _, rest = swept.partition("\n")
    assert first == "of the 2 runs in [sweep] the data of the first is looked at"
    assert rest == capfd.readouterr().out


def test_too_few_labels_are_said(tmp_path: Path, capfd: Captured) -> None:
    config = write_config(tmp_path / "a.toml", {**federation(tmp_path), "budget": 6})
    assert call("pilot", config, "--cache", tmp_path / "cache", "--out", tmp_path / "out") == 0
    printed = capfd.readouterr().out
    assert "No site has ten labelled ID images, so none can judge a gate" in printed
    assert "Recommended by the truth" in printed


def test_what_can_not_be_judged_is_one_line(tmp_path: Path, capfd: Captured) -> None:
    config = write_config(tmp_path / "a.toml", federation(tmp_path, unlabelled=60))
    assert call("pilot", config, "--cache", tmp_path / "cache") == 2
    printed, errors = capfd.readouterr()
    assert printed == "" and errors.count("\n") == 1
    assert "site 'east': none of its 60 training images has a label" in errors
