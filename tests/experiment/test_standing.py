from pathlib import Path

import pytest

from fidal.experiment.config import ConfigError, make_experiment
from fidal.experiment.folder import RunFolder
from fidal.experiment.standing import (
    Failure,
    Standing,
    record_failure,
    record_retry,
    standing,
)
from fidal.federation.coordinator import State
from fidal.rows import append, read
from fidal.storage import StateError

EXPERIMENT = make_experiment({"name": "x", "benchmark": "phantom", "strategy": "random"})
FAILURE = Failure("bug", "TypeError: no", "Traceback ...")


@pytest.fixture
def folder(tmp_path: Path) -> RunFolder:
    folder = RunFolder(tmp_path / "run")
    with folder.held():
        folder.claim(EXPERIMENT)
    return folder


def reach(folder: RunFolder, round: int, done: bool = False) -> None:
    for earlier in range(round):
        append(folder.rounds, {"run": "r", "round": earlier, "site": "*"})
    folder.save_state(EXPERIMENT, State(round=round, done=done))


def test_where_there_is_no_run_yet(tmp_path: Path) -> None:
    assert standing(EXPERIMENT, RunFolder(tmp_path / "nowhere")) == Standing("new")
    assert standing(EXPERIMENT, RunFolder(tmp_path)) == Standing("new")


def test_a_run_is_cut_until_it_is_done(folder: RunFolder) -> None:
    assert standing(EXPERIMENT, folder) == Standing("cut", 0)
    reach(folder, 3)
    assert standing(EXPERIMENT, folder) == Standing("cut", 3)
    folder.save_state(EXPERIMENT, State(round=3, done=True))
    assert standing(EXPERIMENT, folder) == Standing("done", 3)


def test_a_failure_counts_until_a_retry_and_stays_on_record(folder: RunFolder) -> None:
    reach(folder, 2)
    record_failure(EXPERIMENT, folder, FAILURE)
    assert standing(EXPERIMENT, folder) == Standing("failed", 2, FAILURE)
    record_retry(EXPERIMENT, folder)
    assert standing(EXPERIMENT, folder) == Standing("cut", 2)
    record_failure(EXPERIMENT, folder, Failure("died", "killed"))
    assert standing(EXPERIMENT, folder).failure == Failure("died", "killed")
    kinds = [(row["kind"], row["run"], row.get("round")) for row in read(folder.failures)]
    name = EXPERIMENT.run_name
    assert kinds == [("bug", name, 2), ("retried", name, None), ("died", name, 2)]


def test_a_run_that_came_to_its_end_has_not_failed(folder: RunFolder) -> None:
    record_failure(EXPERIMENT, folder, FAILURE)
    reach(folder, 6, done=True)
    assert standing(EXPERIMENT, folder) == Standing("done", 6)


def test_what_can_not_be_trusted_is_an_error(folder: RunFolder) -> None:
    other = EXPERIMENT.model_copy(update={"seed": 4})
    with pytest.raises(ConfigError, match="another configuration"):
        standing(other, folder)
    folder.save_state(EXPERIMENT, State(round=2))
    with pytest.raises(StateError, match=r"lacks the rows of rounds \[0, 1\]"):
        standing(EXPERIMENT, folder)
    folder.state.write_bytes(b"garbage")
    with pytest.raises(StateError, match="is no whole state"):
        standing(EXPERIMENT, folder)
    (folder.path / "config.json").write_text("{")
    with pytest.raises(ConfigError, match=r"config\.json can't be used"):
        standing(EXPERIMENT, folder)
