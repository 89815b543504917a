"""Real SuperLink, real SuperNodes: the run is the in-process run, whatever is killed."""

import os
import signal
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from fidal.experiment.folder import RunFolder
from fidal.site.ledger import Ledger
from fidal.site.site import Site
from tests.federation.flower.cluster import SITES, Cluster, until
from tests.federation.flower.looking import audited, same_as

pytestmark = pytest.mark.slow


def bomb(owner: Any, name: str, n: int, after: bool) -> None:
    """This process dies around the n-th call of a function."""
    whole, calls = getattr(owner, name), 0

    def counted(*args: Any, **kwargs: Any) -> Any:
        nonlocal calls
        calls += 1
        if calls == n and not after:
            os.kill(os.getpid(), signal.SIGKILL)
        result = whole(*args, **kwargs)
        if calls == n:
            os.kill(os.getpid(), signal.SIGKILL)
        return result

    setattr(owner, name, counted)


def test_the_run_is_the_in_process_run_bit_for_bit(
    real: Cluster, manifest: Path, expected: Path
) -> None:
    real.renew(manifest)
    for name in SITES:
        real.start_site(name)
    real.go()
    same_as(expected, real)


def test_sites_killed_in_training_and_in_a_query_change_nothing(
    real: Cluster, manifest: Path, expected: Path
) -> None:
    real.renew(manifest)
    real.start_site("east", partial(bomb, Site, "train", 2, False), again=True)
    real.start_site("north", partial(bomb, Ledger, "ask", 2, True), again=True)
    real.start_site("west", partial(bomb, Site, "train", 3, True), again=True)
    real.go()
    same_as(expected, real)


def test_a_killed_coordinator_goes_on_where_it_was(
    real: Cluster, manifest: Path, expected: Path
) -> None:
    real.renew(manifest)
    for name in SITES:
        real.start_site(name)
    for save, after in ((1, True), (2, False)):
        process = real.start_coordinator(partial(bomb, RunFolder, "save_state", save, after))
        process.join(120)
        assert process.exitcode == -signal.SIGKILL
    real.go()
    same_as(expected, real)


def test_a_killed_supernode_and_a_late_site_change_nothing(
    real: Cluster, manifest: Path, expected: Path
) -> None:
    real.renew(manifest)
    for name in ("east", "north"):
        real.start_site(name)
    process = real.start_coordinator()
    until(lambda: audited(real, "east", "QueryReply") == 1, "the first query")
    real.start_site("west")
    until(lambda: audited(real, "east", "TrainRequest") == 1, "the first training")
    real.end("node east")

    def back() -> bool:
        """Refused while the killed session counts as alive; then systemd tries again."""
        if "node east" not in real.processes or real.processes["node east"].poll() is not None:
            real.processes.pop("node east", None)
            real.start_node("east")
        process.join(3)
        return process.exitcode is not None

    until(back, "the end of the run", 240)
    assert process.exitcode == 0
    same_as(expected, real)
