"""The coordinator's processes: Flower's SuperLink, and the one that drives the rounds."""

import os
import sys
import time
from dataclasses import dataclass
from pathlib import Path

from flwr.serverapp import Grid

from fidal.data.remote import Remote
from fidal.deploy.config import CoordinatorFile
from fidal.deploy.files import CoordinatorPlaces
from fidal.deploy.keys import read_public_key
from fidal.deploy.site import stamp_of
from fidal.experiment.config import ConfigError, Experiment
from fidal.experiment.folder import RunFolder
from fidal.experiment.planning import fresh_weights, make_plan
from fidal.experiment.run import record
from fidal.federation.averaging import Average, FederatedAverage
from fidal.federation.coordinator import Coordinator
from fidal.federation.engine import Engine, FederationError
from fidal.federation.flower.engine import Flower
from fidal.federation.flower.superlink import Link, online, register, serve
from fidal.federation.state import State, Told


def superlink_command(file: CoordinatorFile) -> list[str]:
    """Flower's own server, on the loopback address: a proxy shows sites what they need of it."""
    places = CoordinatorPlaces(file.folder)
    server_key, server = places.server
    return [
        str(Path(sys.executable).with_name("flower-superlink")),  # of this very environment
        *("--host", "127.0.0.1", "--port", str(file.port)),
        *("--ssl-ca-certfile", str(places.authority[1])),
        *("--ssl-certfile", str(server), "--ssl-keyfile", str(server_key)),
        "--enable-supernode-auth",
        *("--isolation", "process", "--superexec-auth-secret-file", str(places.secret)),
        "--disable-runtime-dependency-installation",
    ]


def become_superlink(file: CoordinatorFile) -> None:
    """This process goes on as Flower's SuperLink."""
    command = superlink_command(file)
    sys.stdout.flush()
    os.execv(command[0], command)


def link_of(file: CoordinatorFile) -> Link:
    """How this machine reaches its SuperLink."""
    places = CoordinatorPlaces(file.folder)
    ca, secret = places.authority[1].read_bytes(), places.secret.read_bytes()
    return Link(f"127.0.0.1:{file.port}", ca, secret)


def register_sites(file: CoordinatorFile, wait: float = 0.0) -> tuple[str, ...]:
    """Let in the sites whose public keys are there, and nobody else. Out: their names.

    `wait` so many seconds for a SuperLink that is starting.
    """
    places = CoordinatorPlaces(file.folder)
    there = [site for site in file.sites if places.site_key(site).exists()]
    keys = {site: read_public_key(places.site_key(site)) for site in there}
    end = time.monotonic() + wait
    while True:
        try:
            register(link_of(file), keys)
            return tuple(there)
        except FederationError:
            if time.monotonic() >= end:
                raise
        time.sleep(0.5)


def connections(file: CoordinatorFile) -> dict[str, str]:
    """What the SuperLink says of each site that was let in: registered, online, offline."""
    return online(link_of(file))


@dataclass(frozen=True)
class FederationRun:
    """An experiment between machines, and the folder it lives in."""

    file: CoordinatorFile
    experiment: Experiment
    folder: RunFolder

    @classmethod
    def of(cls, file: CoordinatorFile) -> "FederationRun":
        """The run of the experiment as its file says now."""
        experiment = file.read_experiment()
        return cls(file, experiment, RunFolder(CoordinatorPlaces(file.folder).run(file)))

    def go(self, told: Told) -> None:
        """From wherever the folder stands to the end, as the ServerApp of a run of Flower's."""
        with self.folder.held():
            self.folder.claim(self.experiment)
            state = self.folder.load_state(self.experiment)
            if state.done:
                return
            register_sites(self.file)
            serve(link_of(self.file), lambda grid: self.drive(self._engine(grid), state, told))

    def drive(self, engine: Engine, state: State, told: Told) -> None:
        """The rounds, by any engine."""
        agreed = self.experiment.benchmark
        assert isinstance(agreed, Remote)
        plan = make_plan(self.experiment, engine, self.file.patience)
        fresh = fresh_weights(self.experiment, agreed.shape, len(agreed.classes))
        coordinator = Coordinator(engine, plan, fresh, self._save, told, self._average())
        record(self.experiment, self.folder, agreed.classes, coordinator, state)

    def _engine(self, grid: Grid) -> Engine:
        return Flower(grid, self.file.sites, stamp_of(self.experiment))

    def _save(self, state: State) -> None:
        self.folder.save_state(self.experiment, state)

    def _average(self) -> Average:
        privacy = self.file.privacy
        if privacy is None:
            return FederatedAverage()
        try:
            from fidal.federation.flower.privacy import PrivateAverage

            return PrivateAverage(
                noise=privacy.noise,
                clip=privacy.clip,
                delta=privacy.delta,
                most=privacy.most,
                sites=len(self.file.sites),
                path=self.folder.path / "privacy.json",
            )
        except ImportError as error:
            raise ConfigError(f"privacy: {error}; install 'fidal[privacy]'") from error
