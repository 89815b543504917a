"""A whole federation on one machine: SuperLink, three sites with their connections, a coordinator
and simulated radiologists, each a process of its own.
"""

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib.resources import files
from pathlib import Path
from typing import Final

from fidal.data.phantom import Phantom
from fidal.deploy.config import CoordinatorFile, SiteFile, read_file
from fidal.deploy.coordinator import FederationRun, register_sites, superlink_command
from fidal.deploy.files import CoordinatorPlaces, SitePlaces
from fidal.deploy.init import admit, init_coordinator, init_site
from fidal.deploy.site import connect_command
from fidal.deploy.toml import to_toml
from fidal.experiment.config import ConfigError
from fidal.federation.flower.quiet import OFF
from fidal.types import OUTLIER

SITES: Final = ("harbour", "meadow", "summit")
DATA: Final = Phantom(train_per_site=300, test_per_site=100)
READING: Final = 0.2
"""Mean seconds that a simulated radiologist looks at an image."""

PATIENCE: Final = 180.0
"""Seconds in which all sites must have come up."""


def run_demo(folder: Path, cache: Path, say: Callable[[str], None]) -> Path:
    """Out: the run's folder."""
    if folder.exists():
        raise ConfigError(f"{folder} exists; name another folder, or remove this one")
    say("drawing the clinics' images, once ...")
    manifest = DATA.load(cache).manifest
    words = {OUTLIER: "ood", **dict(enumerate(manifest.classes))}
    truth = {i: words[int(label)] for i, label in zip(manifest.ids, manifest.label, strict=True)}
    coordinator, sites = _machines(folder, cache)
    answers = folder / "answers.json"
    answers.write_text(json.dumps(truth))
    with _processes(folder / "logs") as start:
        places = CoordinatorPlaces(coordinator.folder)
        start("superlink", superlink_command(coordinator), places.flower)
        for site in sites:
            own = SitePlaces(site.folder)
            start(f"{site.name} serve", [*_fidal(), "site", "serve", str(own.config)], own.flower)
        say(f"SuperLink and {len(sites)} sites are starting; their logs: {folder / 'logs'}")
        register_sites(coordinator, wait=PATIENCE)
        for site in sites:
            own = SitePlaces(site.folder)
            start(f"{site.name} connect", connect_command(site), own.flower)
            person = ["-m", "fidal.deploy.radiologist", str(own.state), str(answers)]
            person += ["--seconds", str(READING), "--by", f"radiologist of {site.name}"]
            start(f"{site.name} radiologist", [sys.executable, *person], own.flower)
        _wait(sites)
        say("the coordinator begins; people answer in between")
        command = [*_fidal(), "federation", "run", str(places.config)]
        ended = subprocess.run(command, check=False)
    if ended.returncode:
        raise ConfigError(f"the coordinator ended with {ended.returncode}; see {folder / 'logs'}")
    return FederationRun.of(coordinator).folder.path


def _machines(folder: Path, cache: Path) -> tuple[CoordinatorFile, list[SiteFile]]:
    """Configuration, keys and certificates of all, as `init` makes them for real."""
    folder.mkdir(parents=True)
    experiment = folder / "experiment.toml"
    experiment.write_text(files("fidal.deploy").joinpath("demo.toml").read_text())
    places = init_coordinator(folder / "coordinator", experiment, SITES, ())
    coordinator = read_file(places.config, CoordinatorFile).model_copy(
        update={"port": 8431, "answer_hours": 0.05, "poll_seconds": 1.0, "request_minutes": 10}
    )
    places.config.write_text(to_toml(coordinator, "Of the demo: everybody is in a hurry."))
    sites = []
    for number, name in enumerate(SITES):
        address = f"127.0.0.1:{coordinator.port}"
        own = init_site(folder / name, name, address, experiment, places.authority[1], folder)
        ports = {"desk_port": 0, "runtime_port": coordinator.port + 1 + number}
        site = read_file(own.config, SiteFile).model_copy(
            update={"data": DATA, "cache": cache.absolute(), **ports}
        )
        own.config.write_text(to_toml(site, "Of the demo: a clinic whose images are drawn."))
        admit(coordinator, name, own.public_key)
        sites.append(site)
    return coordinator, sites


@contextmanager
def _processes(logs: Path) -> Iterator[Callable[[str, list[str], Path], None]]:
    """Starts programs that write to logs, and ends them all, the last first."""
    logs.mkdir()
    running: list[subprocess.Popen[bytes]] = []

    def start(name: str, command: list[str], home: Path) -> None:
        environment = {**os.environ, **OFF, "FLWR_HOME": str(home)}
        with (logs / f"{name.replace(' ', '-')}.log").open("wb") as log:
            process = subprocess.Popen(command, stdout=log, stderr=log, env=environment)
        running.append(process)

    try:
        yield start
    finally:
        for process in reversed(running):
            process.terminate()
        for process in reversed(running):
            try:
                process.wait(20)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()


def _wait(sites: list[SiteFile]) -> None:
    end = time.monotonic() + PATIENCE
    while not all(site.path(site.socket).exists() for site in sites):
        if time.monotonic() > end:
            raise ConfigError(f"not all sites came up within {PATIENCE:.0f} s; see their logs")
        time.sleep(0.2)


def _fidal() -> list[str]:
    return [sys.executable, "-c", "from fidal.cli import main; main()"]
