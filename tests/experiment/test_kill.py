"""SIGKILL in every phase: the resumed run ends as the one that was not killed."""

import json
import multiprocessing
import os
import signal
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from fidal.experiment.config import Experiment, make_experiment
from fidal.experiment.folder import RunFolder
from fidal.experiment.run import Run
from fidal.rows import read
from fidal.site.ledger import Ledger
from fidal.site.site import Site
from fidal.storage import load_state

PROCESSES = multiprocessing.get_context("forkserver")
PROCESSES.set_forkserver_preload(["fidal.experiment.run"])

TABLE = {
    "name": "killed",
    "rounds": 2,
    "budget": 6,
    "benchmark": {"name": "phantom", "train_per_site": 40, "test_per_site": 16, "pixels": 32},
    "network": {"kind": "small-cnn"},
    "training": {"rounds": 2, "batch_size": 8, "device": "cpu"},
    "strategy": "pal",
}

MOMENTS = {
    "before the first answer": (Ledger, "_answer", 0, False),
    "in the middle of the warm-up's answers": (Ledger, "_answer", 9, True),
    "between two sites' answers": (Ledger, "_answer", 12, False),
    "before a worklist is written": (Ledger, "ask", 2, False),
    "after a worklist, before its answers": (Ledger, "ask", 5, True),
    "in the middle of training": (Site, "train", 5, True),
    "in the last training step": (Site, "train", 15, False),
    "after training, before the state is saved": (Site, "train", 7, True),
    "in the middle of an evaluation": (Site, "evaluate", 2, True),
    "in the middle of a later query": (Site, "query", 6, True),
    "before the last state is saved": (RunFolder, "save_state", 8, False),
    "right after a state was saved": (RunFolder, "save_state", 2, True),
    "after rows, before the state behind them": (RunFolder, "save_state", 5, False),
}


def go(experiment: Experiment, folder: Path, cache: Path) -> None:
    Run(experiment, RunFolder(folder)).go(cache)


def go_until(
    experiment: Experiment, folder: Path, cache: Path, moment: tuple[type, str, int, bool]
) -> None:
    """Runs in a child that kills itself around the n-th call of a method."""
    owner, name, n, after = moment
    real: Callable[..., Any] = getattr(owner, name)
    calls = 0

    def counted(*args: Any, **kwargs: Any) -> Any:
        nonlocal calls
        calls += 1
        if calls == n + 1 and not after:
            os.kill(os.getpid(), signal.SIGKILL)
        result = real(*args, **kwargs)
        if calls == n + 1:
            os.kill(os.getpid(), signal.SIGKILL)
        return result

    setattr(owner, name, counted)
    go(experiment, folder, cache)


def everything(folder: Path) -> dict[str, object]:
    """All that a run leaves behind, but for the times."""
    found: dict[str, object] = {"rows": read(folder / "rounds.jsonl")}
    for site in sorted((folder / "sites").iterdir()):
        found[f"{site.name} queries"] = read(site / "queries.jsonl")
        name = json.loads((folder / "config.json").read_text())
        run = make_experiment(name).run_name
        ledger = Ledger.open(site / "ledger.sqlite", federation=run, site=site.name)
        found[f"{site.name} ledger"] = [event.key for event in ledger.events()]
        tensors, meta = load_state(site / "local.safetensors")
        found[f"{site.name} local"] = (meta, {k: v.tolist() for k, v in tensors.items()})
    tensors, meta = load_state(folder / "state.safetensors")
    found["global"] = (meta, {k: v.tolist() for k, v in tensors.items()})
    return found


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> tuple[Experiment, Path, dict[str, object]]:
    """The run that was not killed, its cache, and what it left."""
    base = tmp_path_factory.mktemp("whole")
    experiment = make_experiment(TABLE)
    go(experiment, base / "run", base / "cache")
    return experiment, base / "cache", everything(base / "run")


@pytest.mark.slow
@pytest.mark.parametrize("moment", MOMENTS)
def test_a_killed_run_goes_on_as_if_it_had_not_been(
    moment: str, whole: tuple[Experiment, Path, dict[str, object]], tmp_path: Path
) -> None:
    experiment, cache, expected = whole
    folder = tmp_path / "run"
    child = PROCESSES.Process(target=go_until, args=(experiment, folder, cache, MOMENTS[moment]))
    child.start()
    child.join()
    assert child.exitcode == -signal.SIGKILL, "the child was to die at that moment"
    go(experiment, folder, cache)
    assert everything(folder) == expected


def test_a_finished_run_is_not_run_again(
    whole: tuple[Experiment, Path, dict[str, object]], tmp_path: Path
) -> None:
    experiment, cache, _ = whole
    before = (cache.parent / "run" / "rounds.jsonl").stat().st_mtime_ns
    go(experiment, cache.parent / "run", cache)
    assert (cache.parent / "run" / "rounds.jsonl").stat().st_mtime_ns == before
