import json
import os
import signal
import subprocess
import time
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from fidal.experiment.folder import RunFolder
from fidal.experiment.standing import standing
from fidal.experiment.sweep import expand
from fidal.rows import read
from tests.cli.calling import call, start, write_config
from tests.small import images, table


@pytest.fixture(scope="module")
def config(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two good runs, and one that can't be."""
    folder = tmp_path_factory.mktemp("images")
    kinds = {"network.kind": ["small-cnn", "linear"]}
    sweep = {"strategy": ["random", "entropy"], **kinds}
    return write_config(folder / "small.toml", table(images(folder), sweep=sweep))


@pytest.fixture(scope="module")
def swept(config: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("swept") / "out"
    assert call("sweep", config, "--out", out, "--cache", out.parent / "cache", "--jobs", 2) == 2
    return out


Captured = pytest.CaptureFixture[str]


def test_lines_and_a_table_tell_what_was_done_and_what_failed(
    config: Path, swept: Path, capfd: Captured
) -> None:
    assert call("sweep", config, "--out", swept, "--cache", swept.parent / "cache") == 2
    printed, errors = capfd.readouterr()
    lines = printed.splitlines()
    assert sum(line.endswith("was done before") for line in lines) == 2
    assert sum(line.endswith("failed before, is not run again") for line in lines) == 2
    table = [line.split("\t") for line in lines if "\t" in line]
    assert [row[:4] for row in table[1:]] == [
        ["folder", "random", "1", "2"],
        ["folder", "entropy", "1", "2"],
    ]
    assert errors.count("failed before: network.kind 'linear' does not take images") == 2
    assert "run again with --retry only" in errors


def test_json_lines_end_with_the_whole_sweep(config: Path, swept: Path, capfd: Captured) -> None:
    cache = swept.parent / "cache"
    assert call("sweep", config, "--out", swept, "--cache", cache, "--json", "--retry") == 2
    printed, errors = capfd.readouterr()
    assert errors == ""
    lines = [json.loads(line) for line in printed.splitlines()]
    assert [line["event"] for line in lines if line.get("before")] == ["done", "done"]
    assert [line["event"] for line in lines].count("began") == 2
    last = lines[-1]
    assert (last["event"], last["counts"], last["stopped"]) == (
        "end",
        {"done": 2, "failed": 2},
        False,
    )
    failures = [run["failure"]["kind"] for run in last["runs"] if run["status"] == "failed"]
    assert failures == ["refused", "refused"]
    expected = [read(swept / run["run"] / "rounds.jsonl")[-1] for run in last["runs"][::2]]
    assert last["rows"] == expected


def test_a_part_is_told_as_such(config: Path, tmp_path: Path, capfd: Captured) -> None:
    for words in (("--shard", "2/2"), ("--shard", "1/2")):
        call("sweep", config, "--set", "network.kind=linear", "--out", tmp_path, *words)
    printed, _ = capfd.readouterr()
    assert "small: 1 of 2 runs are part 2/2" in printed
    assert len(list(tmp_path.glob("*/failures.jsonl"))) == 2


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["--jobs", "0"], "--jobs: Input should be greater than or equal to 1"),
        (["--shard", "3/2"], "--shard: there is no part 3/2"),
        (["--set", "sead=1"], "sead: unknown key; did you mean 'seed'"),
        (["--set", "strategy.lambda=1"], "[sweep] varies 'strategy'"),
    ],
)
def test_what_is_wrong_is_one_line(
    config: Path, tmp_path: Path, capfd: Captured, words: list[str], says: str
) -> None:
    assert call("sweep", config, "--out", tmp_path / "out", *words) == 2
    printed, errors = capfd.readouterr()
    assert printed == "" and errors.count("\n") == 1 and errors.startswith("fidal: ")
    assert says in errors
    assert not (tmp_path / "out").exists()


def test_the_folder_of_another_sweep(config: Path, swept: Path, capfd: Captured) -> None:
    assert call("sweep", config, "--set", "name=other", "--out", swept) == 2
    assert "belongs to the sweep 'small', and this one is 'other'" in capfd.readouterr().err


def test_the_folder_is_that_of_the_name_if_none_is_given(
    config: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    call("sweep", config, "--set", "network.kind=linear", "--shard", "1/2")
    assert (tmp_path / "runs" / "small" / "sweep.json").exists()


# Signals, in a process of its own


@pytest.fixture
def long(config: Path, tmp_path: Path) -> Iterator[tuple[Path, Path]]:
    """A sweep that would take minutes, and its folder."""
    manifest = config.parent / "manifest.csv"
    slow = {"rounds": 60, "batch_size": 8, "device": "cpu"}
    sweep = {"strategy": ["random", "entropy"]}
    yield (
        write_config(tmp_path / "long.toml", table(manifest, training=slow, sweep=sweep)),
        (tmp_path / "out"),
    )


def start_long(config: Path, out: Path) -> "subprocess.Popen[str]":
    cache = out.parent / "cache"
    return start("sweep", config, "--out", out, "--cache", cache, "--jobs", 2, "--json")


def begun(process: "subprocess.Popen[str]") -> list[int]:
    """Once both runs train: the process ids of all that the sweep has started."""
    assert process.stdout is not None
    training: set[str] = set()
    while len(training) < 2:
        line: dict[str, Any] = json.loads(process.stdout.readline())
        if line["event"] == "went" and line["phase"] == "train":
            training.add(line["run"])
    return descendants(process.pid)


def descendants(parent: int) -> list[int]:
    found = []
    for task in Path(f"/proc/{parent}/task").iterdir():
        for child in map(int, (task / "children").read_text().split()):
            found += [child, *descendants(child)]
    return found


def gone(pids: list[int], seconds: float = 20) -> bool:
    """All of them, soon."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if not any(alive(pid) for pid in pids):
            return True
        time.sleep(0.05)
    return False


def alive(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().split(") ")[1][0] != "Z"
    except OSError:
        return False


@pytest.mark.slow
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_ends_everything_and_what_is_cut_can_go_on(
    long: tuple[Path, Path], number: signal.Signals
) -> None:
    config, out = long
    process = start_long(config, out)
    children = begun(process)
    assert len(children) >= 4, "two runs, the fork server and its helper"
    os.killpg(process.pid, number)  # as a terminal does with Ctrl-C
    printed, errors = process.communicate(timeout=60)
    assert (process.returncode, errors) == (130, "")
    last = json.loads(printed.splitlines()[-1])
    assert last["stopped"] and {run["status"] for run in last["runs"]} == {"cut"}
    assert gone(children)
    assert not list(out.glob("*/failures.jsonl"))
    for each in expand(tomllib.loads(config.read_text())):
        assert standing(each, RunFolder(out / each.run_name)).status == "cut"


@pytest.mark.slow
def test_a_killed_sweep_leaves_no_process_behind(long: tuple[Path, Path]) -> None:
    config, out = long
    process = start_long(config, out)
    children = begun(process)
    process.kill()
    process.communicate()
    assert gone(children)
