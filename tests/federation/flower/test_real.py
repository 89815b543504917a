"""Real SuperLink, real SuperNodes: what must hold between machines. See `cluster.py`."""

import os
import signal
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest
import torch

from fidal.experiment.folder import RunFolder
from fidal.rows import read
from fidal.site.audit import verify
from fidal.site.ledger import Ledger
from fidal.site.site import Site
from fidal.storage import load_state
from tests.federation.flower.cluster import SITES, Cluster, cluster, in_process
from tests.small import go, images

pytestmark = pytest.mark.slow

NOT_SHARED = ("run", "benchmark")


@pytest.fixture(scope="module")
def manifest(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return images(tmp_path_factory.mktemp("images"), sites=SITES)


@pytest.fixture(scope="module")
def running(tmp_path_factory: pytest.TempPathFactory, manifest: Path) -> Iterator[Cluster]:
    with cluster(tmp_path_factory.mktemp("real"), manifest) as made:
        made.start_superlink()
        for name in SITES:
            made.start_node(name)
        yield made


@pytest.fixture
def real(running: Cluster) -> Iterator[Cluster]:
    yield running
    running.end_sites()


@pytest.fixture(scope="module")
def expected(tmp_path_factory: pytest.TempPathFactory, running: Cluster, manifest: Path) -> Path:
    """The in-process run of the experiment that `renew` gives by default."""
    folder = tmp_path_factory.mktemp("expected") / "run"
    running.renew(manifest)
    go(in_process(manifest, running.coordinator), folder)
    return folder


def ledger_of(folder: Path, federation: str, site: str) -> list[Any]:
    ledger = Ledger.open(folder / "ledger.sqlite", federation=federation, site=site)
    events = [event.key for event in ledger.events()]
    ledger.close()
    return events


def same_as(expected: Path, real: Cluster) -> None:
    """Every question and answer at every site, every row, every weight."""
    found, near = real.run_folder, RunFolder(expected)
    for name in SITES:
        far = real.sites[name].folder / "state"
        there = ledger_of(far, found.experiment().run_name, name)
        assert there == ledger_of(near.site(name), near.experiment().run_name, name)
        assert verify(far / "audit.jsonl")[0] > 0
    for ours, theirs in zip(read(found.rounds), read(near.rounds), strict=True):
        for key in ours.keys() - set(NOT_SHARED):
            assert ours[key] == theirs[key], (key, ours["site"], ours["round"])
    mine, _ = load_state(found.path / "state.safetensors")
    yours, _ = load_state(near.path / "state.safetensors")
    assert mine.keys() == yours.keys()
    assert all(torch.equal(mine[name], yours[name]) for name in mine)


def test_the_run_is_the_in_process_run_bit_for_bit(
    real: Cluster, manifest: Path, expected: Path
) -> None:
    real.renew(manifest)
    for name in SITES:
        real.start_site(name)
    real.go()
    same_as(expected, real)


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
