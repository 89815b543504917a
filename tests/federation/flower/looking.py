"""What a run between machines has left behind."""

from pathlib import Path
from typing import Any

import torch

from fidal.experiment.folder import RunFolder
from fidal.rows import read
from fidal.site.audit import verify
from fidal.site.ledger import Ledger
from fidal.storage import load_state
from tests.federation.flower.cluster import SITES, Cluster

NOT_SHARED = ("run", "benchmark")


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


def audited(real: Cluster, site: str, kind: str) -> int:
    """How many messages of a kind a site has logged."""
    log = real.sites[site].folder / "state" / "audit.jsonl"
    return log.read_text().count(f'"kind": "{kind}"') if log.exists() else 0
