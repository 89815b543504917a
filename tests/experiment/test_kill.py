"""SIGKILL in every phase: the resumed run ends as the one that was not killed."""

import os
import signal
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import fidal.experiment.folder
import fidal.site.site
from fidal.experiment.config import make_experiment
from fidal.experiment.folder import RunFolder
from fidal.rows import read
from fidal.site.ledger import Ledger
from fidal.site.site import Site
from fidal.storage import digest, load_state
from tests.killed import PROCESSES
from tests.small import go, images, table

MOMENTS: dict[str, tuple[Any, str, int, bool]] = {
    "at birth, between versions and configuration": (
        fidal.experiment.folder,
        "write_atomic",
        0,
        True,
    ),
    "before the first answer": (Ledger, "_answer", 0, False),
    "in the middle of the warm-up's answers": (Ledger, "_answer", 3, True),
    "between two sites' answers": (Ledger, "_answer", 5, False),
    "before a worklist is written": (Ledger, "ask", 1, False),
    "after a worklist, before its answers": (Ledger, "ask", 3, True),
    "after answers, before the site's own record": (fidal.site.site, "write_query", 2, False),
    "in the middle of training": (Site, "train", 1, True),
    "in the last training step": (Site, "train", 11, False),
    "before a local model is kept": (fidal.site.site, "save_local", 3, False),
    "after training, before the state is saved": (Site, "train", 3, True),
    "in the middle of an evaluation": (Site, "evaluate", 2, True),
    "in the middle of a later query": (Site, "query", 4, True),
    "in the middle of a file": (Path, "replace", 9, False),
    "after rows, before the state behind them": (RunFolder, "save_state", 5, False),
    "right after a state was saved": (RunFolder, "save_state", 2, True),
    "before the last state is saved": (RunFolder, "save_state", 8, False),
}
"""Around which call of which function, counted from 0, and whether after it."""


def go_until(moment: str, config: dict[str, Any], folder: Path) -> None:
    """Runs in a child that kills itself around the n-th call of a function."""
    owner, name, n, after = MOMENTS[moment]
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
    go(config, folder)


def everything(config: dict[str, Any], folder: Path) -> dict[str, object]:
    """All that a run leaves behind, but for the times."""
    found: dict[str, object] = {
        "names": sorted(str(path.relative_to(folder)) for path in folder.rglob("*")),
        "rows": read(folder / "rounds.jsonl"),
    }
    run = make_experiment(config).run_name
    for site in sorted((folder / "sites").iterdir()):
        found[f"{site.name} queries"] = read(site / "queries.jsonl")
        ledger = Ledger.open(site / "ledger.sqlite", federation=run, site=site.name)
        found[f"{site.name} ledger"] = [event.key for event in ledger.events()]
        ledger.close()
    for file in folder.rglob("*.safetensors"):
        found[str(file.relative_to(folder))] = digest(*load_state(file))
    return found


Whole = tuple[dict[str, Any], Path, dict[str, object]]


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Whole:
    """The configuration, the run that was not killed, and what it left.

    PAL trains a companion network at each site and draws unlabelled images into its batches: of
    all strategies it has the most state to lose.
    """
    base = tmp_path_factory.mktemp("whole")
    config = table(images(base / "data"), strategy="pal")
    go(config, base / "run")
    return config, base / "run", everything(config, base / "run")


@pytest.mark.parametrize("moment", MOMENTS)
def test_a_killed_run_goes_on_as_if_it_had_not_been(
    moment: str, whole: Whole, tmp_path: Path
) -> None:
    config, _, expected = whole
    folder = tmp_path / "run"
    child = PROCESSES.Process(target=go_until, args=(moment, config, folder))
    child.start()
    child.join()
    assert child.exitcode == -signal.SIGKILL, "the child was to die at that moment"
    go(config, folder)
    assert everything(config, folder) == expected


def test_a_finished_run_is_not_run_again(whole: Whole) -> None:
    config, folder, expected = whole
    before = {path: path.stat().st_mtime_ns for path in folder.rglob("*")}
    go(config, folder)
    assert {path: path.stat().st_mtime_ns for path in folder.rglob("*")} == before
    assert everything(config, folder) == expected
