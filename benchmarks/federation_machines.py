"""Machines for `federation.py`: a SuperLink, and sites with large weights and nothing to learn."""

import contextlib
import multiprocessing
import os
import signal
import socket
import subprocess
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from fidal.data.sites import SiteData
from fidal.deploy.config import CoordinatorFile, SiteFile, read_file
from fidal.deploy.coordinator import link_of, register_sites, superlink_command
from fidal.deploy.files import SitePlaces
from fidal.deploy.init import admit, init_coordinator, init_site
from fidal.deploy.site import connect_command
from fidal.federation.codec import WIRE
from fidal.federation.flower.superlink import Link
from fidal.federation.messages import Stamp
from fidal.learning.networks import Architecture
from fidal.learning.trainer import Training
from fidal.site.audit import Audit
from fidal.site.ledger import Ledger
from fidal.site.oracle import People
from fidal.site.policy import Policy
from fidal.site.reception import Reception
from fidal.site.server import SocketServer
from fidal.site.site import Setup, Site
from fidal.site.switch import Switch
from fidal.strategies import STRATEGIES

FEDERATION = "benchmark"
STAMP = Stamp(WIRE, "0", "0")
CLASSES = ("a", "b")
PROCESSES = multiprocessing.get_context("forkserver")
TICKS = os.sysconf("SC_CLK_TCK")


def make_site(name: str, folder: Path, megabytes: float) -> Site:
    """A linear probe of so many bytes, no labelled image: training only carries weights."""
    width = int(megabytes * 1e6 / 4 / len(CLASSES))
    rows = np.arange(2)
    data = SiteData(
        site=name,
        classes=CLASSES,
        ids=("one", "two"),
        labels=np.full(2, -2),
        inputs=np.zeros((2, width), dtype=np.float32),
        train=rows,
        test=rows[:0],
        coverage=None,
        prompts=None,
    )
    training = Training(rounds=1, device="cpu")
    strategy = STRATEGIES["random"]()
    setup = Setup(FEDERATION, 0, Architecture(kind="linear"), training, strategy, 1)
    folder.mkdir(parents=True, exist_ok=True)
    ledger = Ledger.open(folder / "ledger.sqlite", federation=FEDERATION, site=name)
    return Site(data, setup, ledger, People(), folder)


def life(name: str, folder: Path, socket_path: Path, megabytes: float) -> None:
    """The site's own process."""
    site = make_site(name, folder, megabytes)
    audit = Audit(folder / "audit.jsonl")
    reception = Reception(site, STAMP, Policy(), Switch(folder / "switch"), audit)
    server = SocketServer(socket_path, reception)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    signal.sigwait({signal.SIGTERM})


@dataclass
class Machines:
    """Everything that runs, by what it is."""

    link: Link
    pids: dict[str, list[int]] = field(default_factory=dict)

    def cpu(self) -> dict[str, float]:
        """Seconds that each kind of process has used so far."""
        return {kind: sum(_cpu(pid) for pid in pids) for kind, pids in self.pids.items()}


@contextlib.contextmanager
def machines(folder: Path, names: tuple[str, ...], megabytes: float) -> Iterator[Machines]:
    """Started, connected, and ended by their ids."""
    experiment = folder / "experiment.toml"
    folder.mkdir(parents=True)
    experiment.write_text(
        'name = "benchmark"\nstrategy = "random"\n'
        'benchmark = { name = "remote", classes = ["a", "b"], shape = [4] }\n'
    )
    places = init_coordinator(folder / "coordinator", experiment, names, ())
    file = read_file(places.config, CoordinatorFile).model_copy(update={"port": _free_port()})
    running: list[subprocess.Popen[bytes] | multiprocessing.process.BaseProcess] = []
    made = Machines(link_of(file))
    try:
        superlink = _spawn(superlink_command(file), places.flower)
        running.append(superlink)
        made.pids["SuperLink"] = [superlink.pid]
        sites = [_site(folder, name, file, places.authority[1]) for name in names]
        register_sites(file, wait=60)
        made.pids["SuperNodes"], made.pids["sites"] = [], []
        for site in sites:
            words = (site.name, site.folder / "state", site.path(site.socket), megabytes)
            process = PROCESSES.Process(target=life, args=words, daemon=True)
            process.start()
            node = _spawn(connect_command(site), SitePlaces(site.folder).flower)
            running += [process, node]
            made.pids["SuperNodes"].append(node.pid)
            made.pids["sites"].append(process.pid or 0)
        made.pids["coordinator"] = [os.getpid()]
        yield made
    finally:
        for process in running:
            process.terminate()
        for process in running:
            process.wait() if isinstance(process, subprocess.Popen) else process.join()


def _site(folder: Path, name: str, coordinator: CoordinatorFile, ca: Path) -> SiteFile:
    address = f"127.0.0.1:{coordinator.port}"
    experiment = coordinator.folder / "experiment.toml"
    own = init_site(folder / name, name, address, experiment, ca, folder)
    admit(coordinator, name, own.public_key)
    return read_file(own.config, SiteFile).model_copy(update={"runtime_port": _free_port()})


def _spawn(command: list[str], home: Path) -> "subprocess.Popen[bytes]":
    off = {"FLWR_TELEMETRY_ENABLED": "0", "FLWR_DISABLE_UPDATE_CHECK": "1"}
    environment = {**os.environ, "FLWR_HOME": str(home), **off}
    with (home / "log").open("wb") as log:
        return subprocess.Popen(command, stdout=log, stderr=log, env=environment)


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def _cpu(pid: int) -> float:
    """Of a process and of those of its children that have ended."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except FileNotFoundError:
        return 0.0
    return sum(int(x) for x in fields[11:15]) / TICKS
