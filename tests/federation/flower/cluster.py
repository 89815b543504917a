"""A real federation on the loopback address: SuperLink, SuperNodes, sites and a coordinator, each
a process of its own that a test may kill. What a cluster starts it ends, by process id.
"""

import os
import signal
import socket
import subprocess
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from multiprocessing.process import BaseProcess
from pathlib import Path
from typing import Any

from fidal.deploy.config import CoordinatorFile, SiteFile, read_file
from fidal.deploy.coordinator import FederationRun, register_sites, superlink_command
from fidal.deploy.files import SitePlaces
from fidal.deploy.init import admit, init_coordinator, init_site
from fidal.deploy.site import connect_command, serve_site
from fidal.deploy.toml import to_toml
from fidal.experiment.config import make_experiment, read_table
from fidal.experiment.folder import RunFolder
from fidal.federation.flower.quiet import silence
from tests.killed import PROCESSES
from tests.small import COLOURS

SITES = ("east", "north", "west")
EXPERIMENT = """\
name = "real"
rounds = {rounds}
budget = {budget}
strategy = "{strategy}"
seed = {seed}
benchmark = {{ name = "remote", classes = {classes}, shape = [16, 16, 3] }}
training = {{ rounds = 2, batch_size = 8, device = "cpu", optimiser = {{ lr = 3e-3 }} }}
"""

Hook = Callable[[], None]
"""Runs in a process before its work: tests hide a bomb there."""


def nothing() -> None:
    pass


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def until(true: Callable[[], bool], what: str, seconds: float = 120.0) -> None:
    end = time.monotonic() + seconds
    while not true():
        assert time.monotonic() < end, f"waited {seconds} s in vain: {what}"
        time.sleep(0.05)


def life_of_a_site(config: Path, hook: Hook) -> None:
    hook()
    serve_site(read_file(config, SiteFile))


def life_of_a_coordinator(config: Path, hook: Hook) -> None:
    silence(config.parent / "flower")
    hook()
    FederationRun.of(read_file(config, CoordinatorFile)).go(lambda *_: None)


@dataclass
class Cluster:
    """One coordinator with its SuperLink and three sites with their SuperNodes. `renew` gives all
    of them a new experiment; SuperLink and SuperNodes go on."""

    folder: Path
    coordinator: CoordinatorFile
    sites: dict[str, SiteFile]
    processes: dict[str, Any] = field(default_factory=dict)
    _watch: dict[str, threading.Event] = field(default_factory=dict)

    @property
    def run_folder(self) -> RunFolder:
        return FederationRun.of(self.coordinator).folder

    # Flower's part

    def start_superlink(self) -> None:
        self._spawn("superlink", superlink_command(self.coordinator), self.folder / "flower")
        register_sites(self.coordinator, wait=60)

    def start_node(self, site: str) -> None:
        file = self.sites[site]
        self._spawn(f"node {site}", connect_command(file), SitePlaces(file.folder).flower)

    def _spawn(self, name: str, command: list[str], home: Path) -> None:
        environment = {**os.environ, "FLWR_HOME": str(home)}
        environment |= {"FLWR_TELEMETRY_ENABLED": "0", "FLWR_DISABLE_UPDATE_CHECK": "1"}
        with (self.folder / f"{name}.log").open("ab") as log:
            self.processes[name] = subprocess.Popen(
                command, stdout=log, stderr=log, env=environment, start_new_session=True
            )

    def log(self, name: str) -> str:
        return (self.folder / f"{name}.log").read_text(errors="replace")

    # fidal's part

    def renew(
        self, manifest: Path, site_fields: dict[str, Any] | None = None, **fields: Any
    ) -> None:
        """Another experiment on these images. `fields` of it, and of the coordinator."""
        words = {"rounds": 1, "budget": 5, "strategy": "pal", "seed": 0} | fields
        own = {key: words.pop(key) for key in list(words) if key in CoordinatorFile.model_fields}
        text = EXPERIMENT.format(classes=list(COLOURS), **words)
        base = {"poll_seconds": 0.2, "quorum": 2}
        self.coordinator = self.coordinator.model_copy(update=base | own)
        self._write(self.coordinator, "coordinator.toml", text)
        _set_aside(self.folder / "runs")
        for name, file in self.sites.items():
            places = SitePlaces(file.folder)
            used = _set_aside(places.state)
            (used / "flower").rename(places.flower)  # the SuperNode goes on
            update = {"data": file.data.model_copy(update={"manifest": manifest})}
            update |= {"cache": manifest.parent / "cache", **(site_fields or {})}
            self.sites[name] = file.model_copy(update=update)
            self._write(self.sites[name], "site.toml", text)

    def _write(self, file: Any, name: str, experiment: str) -> None:
        (file.folder / "experiment.toml").write_text(experiment)
        (file.folder / name).write_text(to_toml(file, "of a test"))

    def start_site(self, name: str, hook: Hook = nothing, again: bool = False) -> None:
        """With `again` it is started anew whenever it dies, as systemd does, without its hook."""
        config = self.sites[name].folder / "site.toml"
        process = PROCESSES.Process(target=life_of_a_site, args=(config, hook), daemon=True)
        process.start()
        self.processes[f"site {name}"] = process
        if again:
            stop = self._watch[name] = threading.Event()
            threading.Thread(target=self._restart, args=(name, process, stop), daemon=True).start()

    def _restart(self, name: str, process: BaseProcess, stop: threading.Event) -> None:
        process.join()
        if not stop.is_set():
            self.start_site(name)

    def start_coordinator(self, hook: Hook = nothing) -> BaseProcess:
        config = self.folder / "coordinator.toml"
        process = PROCESSES.Process(target=life_of_a_coordinator, args=(config, hook), daemon=True)
        process.start()
        self.processes["coordinator"] = process
        return process

    def go(self, seconds: float = 150.0) -> RunFolder:
        """Run the coordinator to its end."""
        process = self.start_coordinator()
        process.join(seconds)
        assert process.exitcode == 0, f"the coordinator ended with {process.exitcode}"
        return self.run_folder

    # The end of processes

    def end(self, name: str, number: int = signal.SIGKILL) -> None:
        """By its id, and wait for it."""
        process = self.processes.pop(name, None)
        if process is None:
            return
        for stop in [self._watch.pop(name.removeprefix("site "), None)]:
            if stop is not None:
                stop.set()
        if isinstance(process, subprocess.Popen):
            process.send_signal(number)
            try:
                process.wait(10)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
        elif process.pid is not None and process.is_alive():
            os.kill(process.pid, number)
            process.join(10)
            if process.is_alive():
                process.kill()
                process.join()

    def end_sites(self) -> None:
        for name in ["coordinator", *(f"site {site}" for site in self.sites)]:
            self.end(name)

    def end_all(self) -> None:
        for name in list(self.processes):
            self.end(name)


def _set_aside(folder: Path) -> Path:
    """An empty folder in its place. Out: where it is now."""
    used = folder.with_name(f"{folder.name}-{time.monotonic_ns()}")
    folder.rename(used)
    folder.mkdir()
    return used


@contextmanager
def cluster(folder: Path, manifest: Path) -> Iterator[Cluster]:
    """A fresh one, with nothing started."""
    experiment = folder / "experiment.toml"
    folder.mkdir(parents=True, exist_ok=True)
    words = {"rounds": 1, "budget": 5, "strategy": "pal", "seed": 0}
    experiment.write_text(EXPERIMENT.format(classes=list(COLOURS), **words))
    port = free_port()
    places = init_coordinator(folder / "coordinator", experiment, SITES, ())
    file = read_file(places.config, CoordinatorFile).model_copy(update={"port": port})
    sites = {}
    for name in SITES:
        own = init_site(
            folder / name,
            name,
            f"127.0.0.1:{port}",
            experiment,
            places.authority[1],
            manifest.parent,
        )
        ports = {"runtime_port": free_port(), "desk_port": 0, "answers": "labels"}
        sites[name] = read_file(own.config, SiteFile).model_copy(update=ports)
        admit(file, name, own.public_key)
    made = Cluster(places.folder, file, sites)
    made.renew(manifest)
    try:
        yield made
    finally:
        made.end_all()


def in_process(manifest: Path, coordinator: CoordinatorFile) -> dict[str, Any]:
    """The same experiment as `fidal run` takes it: with the images in place of "remote"."""
    table = read_table(coordinator.folder / "experiment.toml")
    table["benchmark"] = {
        "name": "folder",
        "manifest": str(manifest),
        "size": 16,
        "classes": list(COLOURS),
    }
    make_experiment(table)
    return table
