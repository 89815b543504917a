"""The one long-lived process of a clinic: `fidal site serve`."""

import logging
import secrets
import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from importlib.metadata import version
from pathlib import Path

from fidal.data.sites import SiteData, site_data
from fidal.deploy.config import SiteFile
from fidal.deploy.files import SitePlaces
from fidal.experiment.before import check_needs, needed
from fidal.experiment.config import ConfigError, Experiment
from fidal.experiment.opening import open_site, simulated_expert
from fidal.experiment.run import loaded
from fidal.federation.codec import WIRE
from fidal.federation.inprocess import use_cores
from fidal.federation.messages import Stamp
from fidal.site.audit import Audit
from fidal.site.desk import Desk
from fidal.site.oracle import Oracle, People
from fidal.site.reception import Reception
from fidal.site.server import SocketServer
from fidal.site.service import DeskServer
from fidal.site.site import Site
from fidal.site.switch import Switch
from fidal.storage import remove_leftovers, write_atomic

log = logging.getLogger(__name__)


def stamp_of(experiment: Experiment) -> Stamp:
    """What both ends must have in common."""
    return Stamp(WIRE, version("fidal"), experiment.digest)


def serve_site(file: SiteFile) -> None:
    """Answer requests at the socket and people at the desk, until SIGTERM or SIGINT."""
    end = threading.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: end.set())
    with serving(file) as site:
        log.info("site '%s' serves %d images", site.name, len(site.data.train))
        end.wait()


def connect_command(file: SiteFile) -> list[str]:
    """The program that connects the site: another process, which sees no image."""
    places = SitePlaces(file.folder)
    places.flower.mkdir(mode=0o700, parents=True, exist_ok=True)
    options = {
        "site": file.name,
        "socket": file.path(file.socket),
        "coordinator": file.coordinator,
        "ca": places.ca,
        "key": places.private_key,
        "runtime-port": file.runtime_port,
        "home": places.flower,
    }
    words = [word for key, value in options.items() for word in (f"--{key}", str(value))]
    return [sys.executable, "-m", "fidal.federation.flower.connect", *words]


@contextmanager
def serving(file: SiteFile) -> Iterator[Site]:
    """The site, answering in threads of this process."""
    places = SitePlaces(file.folder)
    places.state.mkdir(mode=0o700, parents=True, exist_ok=True)
    use_cores()
    with ExitStack() as ending:
        audit = Audit(places.audit)  # first: it holds the folder for this process alone
        ending.callback(audit.close)
        remove_leftovers(places.state)
        experiment = file.read_experiment()
        data = _data(file, experiment)
        oracle: Oracle = People()
        if file.answers == "labels":
            oracle = simulated_expert(experiment, data)
        site = open_site(experiment, data, oracle, places.state)
        ending.callback(site.ledger.close)
        stamp, switch = stamp_of(experiment), Switch(places.switch)
        audit.note(f"fidal {stamp.version} serves experiment {stamp.setup}")
        reception = Reception(site, stamp, file.policy, switch, audit)
        desk = _open_desk(Desk(site.ledger, data.classes), _token(places.token), file.desk_port)
        write_atomic(places.desk, f"{desk.address}\n".encode())
        _in_thread(desk, ending)
        # Last: whoever finds the socket finds the whole site.
        _in_thread(SocketServer(file.path(file.socket), reception), ending)
        yield site


def _data(file: SiteFile, experiment: Experiment) -> SiteData:
    """The site's own part of its data, checked against what the federation agreed on."""
    benchmark = loaded(needed(file.data, experiment.strategy), file.path(file.cache))
    if file.name not in benchmark.manifest.sites:
        raise ConfigError(
            f"data: no image is of site '{file.name}'; its sites are "
            f"{', '.join(benchmark.manifest.sites)}"
        )
    check_needs(experiment.strategy, benchmark)
    data = site_data(benchmark, file.name)
    agreed = experiment.benchmark
    classes, shape = tuple(agreed.classes), tuple(agreed.shape)  # type: ignore[attr-defined]
    if data.classes != classes:
        raise ConfigError(
            f"data: its classes are {', '.join(data.classes)}, the experiment's are "
            f"{', '.join(classes)}, in this order"
        )
    if data.inputs.shape[1:] != shape:
        raise ConfigError(
            f"data: one input has the shape {list(data.inputs.shape[1:])}, the experiment wants "
            f"{list(shape)}"
        )
    return data


def _open_desk(desk: Desk, token: str, port: int) -> DeskServer:
    try:
        return DeskServer(desk, token, port)
    except OSError as error:
        raise ConfigError(f"desk_port: {port}: {error.strerror}; choose another, or 0") from error


def _token(path: Path) -> str:
    """The same one after a restart: pages that are open stay usable."""
    if not path.exists():
        path.touch(mode=0o600)
        path.write_text(secrets.token_urlsafe(24) + "\n")
    return path.read_text().strip()


def _in_thread(server: SocketServer | DeskServer, ending: ExitStack) -> None:
    ending.callback(server.server_close)
    threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True).start()
    ending.callback(server.shutdown)
