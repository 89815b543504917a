import json
from collections.abc import Callable
from pathlib import Path

import pytest
import torch

from fidal.experiment.config import ConfigError, make_experiment
from fidal.experiment.folder import RunFolder
from fidal.federation.coordinator import State
from fidal.federation.messages import GateReport, QueryReply
from fidal.federation.weights import pack
from fidal.learning.backbones import SmallConvNet
from fidal.rows import append
from fidal.storage import StateError, save_state

EXPERIMENT = make_experiment({"name": "x", "benchmark": "phantom", "strategy": "random"})
OTHER = make_experiment({"name": "x", "benchmark": "phantom", "strategy": "badge", "seed": 1})


@pytest.fixture
def folder(tmp_path: Path) -> RunFolder:
    folder = RunFolder(tmp_path / "run")
    with folder.held():
        folder.claim(EXPERIMENT)
    return folder


def contents(path: Path) -> dict[Path, bytes]:
    return {file: file.read_bytes() for file in path.rglob("*") if file.is_file()}


def test_a_claimed_folder_says_what_runs_in_it_and_with_which_versions(folder: RunFolder) -> None:
    assert folder.experiment() == EXPERIMENT
    folder.claim(EXPERIMENT)
    versions = json.loads((folder.path / "versions.json").read_text())
    assert {"python", "fidal", "torch", "numpy", "timm", "scikit-learn"} == set(versions)
    assert all(versions.values())


def test_another_configuration_is_refused_and_nothing_changes(folder: RunFolder) -> None:
    before = contents(folder.path)
    with pytest.raises(ConfigError, match=r"another configuration \(it differs in: seed, strategy"):
        folder.claim(OTHER)
    assert contents(folder.path) == before


def test_a_folder_of_other_things_is_refused_and_nothing_changes(tmp_path: Path) -> None:
    (tmp_path / "thesis.tex").write_text("chapter one")
    with (
        pytest.raises(ConfigError, match="holds files that are not a run's"),
        RunFolder(tmp_path).held(),
    ):
        pass
    assert contents(tmp_path) == {tmp_path / "thesis.tex": b"chapter one"}


def test_what_a_killed_run_left_unfinished_is_cleared_away(folder: RunFolder) -> None:
    for name in (".state.safetensors.1f.tmp", "sites/a/.ledger.sqlite.2e.tmp"):
        (folder.path / name).parent.mkdir(parents=True, exist_ok=True)
        (folder.path / name).write_bytes(b"half a file")
    folder.claim(EXPERIMENT)
    folder.site("a")
    left = {path.name for path in contents(folder.path)}
    assert left == {"config.json", "versions.json", ".lock"}


@pytest.mark.parametrize(
    ("text", "says"),
    [
        (b'{"name": "x", "bench', "config.json can't be used"),
        (b"\xff\xfe\x00", "config.json can't be used"),
        (b"[1, 2]", "config.json can't be used"),
        (b'{"name": "x", "benchmark": "phantom", "strategy": "random", "sed": 1}', "'seed'"),
    ],
)
def test_a_damaged_configuration_is_refused_and_left_as_it_is(
    folder: RunFolder, text: bytes, says: str
) -> None:
    file = folder.path / "config.json"
    file.write_bytes(text)
    for use in (folder.experiment, lambda: folder.claim(EXPERIMENT)):
        with pytest.raises(ConfigError, match=says):
            use()
    assert file.read_bytes() == text


def test_what_is_no_run_says_so(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"is no run: it has no config\.json"):
        RunFolder(tmp_path / "nowhere").experiment()


def test_one_process_at_a_time(folder: RunFolder) -> None:
    with (
        folder.held(),
        pytest.raises(StateError, match="another process is at work"),
        RunFolder(folder.path).held(),
    ):
        pass
    with RunFolder(folder.path).held():
        pass


# The state


def state() -> State:
    gate = GateReport(0.3, 0.4, 2.0, None, 0.9, 0.8, 0.1, true_recall=0.9)
    queried = {
        "a": QueryReply("a", 1, 90, 5, 5, 4, 1, 9, 1, 0, gate, 0.25),
        "b": QueryReply("b", 1, 80, 5, 5, 5, 0, 10, 0, 2, None, None),
    }
    return State(1, "train", pack(SmallConvNet().state_dict()), queried)


def rows(folder: RunFolder, *rounds: int) -> None:
    for round in rounds:
        append(folder.rounds, {"run": "r", "round": round, "site": "*"})


def test_a_saved_state_comes_back(folder: RunFolder) -> None:
    saved = state()
    rows(folder, 0)
    folder.save_state(EXPERIMENT, saved)
    found = folder.load_state(EXPERIMENT)
    assert (found.round, found.phase, found.done) == (1, "train", False)
    assert found.queried == saved.queried
    assert found.weights is not None and saved.weights is not None
    assert found.weights.specs == saved.weights.specs
    assert torch.equal(found.weights.flat, saved.weights.flat)


def test_without_a_state_it_is_the_beginning(folder: RunFolder) -> None:
    found = folder.load_state(EXPERIMENT)
    assert (found.round, found.phase, found.weights, found.done) == (0, "query", None, False)


def cut(content: bytes) -> bytes:
    return content[: len(content) // 2]


def flip(content: bytes) -> bytes:
    return content[:-5] + bytes([content[-5] ^ 4]) + content[-4:]


@pytest.mark.parametrize("damage", [cut, flip, lambda content: b"", lambda content: b"garbage" * 9])
def test_a_damaged_state_is_refused_and_left_as_it_is(
    folder: RunFolder, damage: Callable[[bytes], bytes]
) -> None:
    rows(folder, 0)
    folder.save_state(EXPERIMENT, state())
    file = folder.path / "state.safetensors"
    broken = damage(file.read_bytes())
    file.write_bytes(broken)
    with pytest.raises(StateError, match=r"state\.safetensors.*put back a copy"):
        folder.load_state(EXPERIMENT)
    assert file.read_bytes() == broken


def test_a_foreign_state_is_refused(folder: RunFolder) -> None:
    folder.save_state(OTHER, state())
    with pytest.raises(StateError, match="belongs to another configuration"):
        folder.load_state(EXPERIMENT)
    save_state(folder.path / "state.safetensors", {"x": torch.zeros(1)}, {"round": "1"})
    with pytest.raises(StateError, match="belongs to another configuration"):
        folder.load_state(EXPERIMENT)


def test_rows_that_were_lost_are_missed(folder: RunFolder) -> None:
    folder.save_state(EXPERIMENT, State(round=3, phase="query"))
    rows(folder, 0, 2)
    with pytest.raises(StateError, match=r"rounds\.jsonl lacks the rows of rounds \[1\]"):
        folder.load_state(EXPERIMENT)
    folder.rounds.unlink()
    with pytest.raises(StateError, match=r"rounds \[0, 1, 2\]"):
        folder.load_state(EXPERIMENT)
