"""`fidal site init` and `fidal federation init`: a folder with all that a machine needs."""

import getpass
import shutil
import sys
from importlib.metadata import version
from pathlib import Path
from typing import Any, Final

from jinja2 import Environment, PackageLoader, StrictUndefined

from fidal.data.benchmark import Source
from fidal.data.folder import Folder
from fidal.data.remote import Remote
from fidal.deploy.config import CoordinatorFile, SiteFile, read_file
from fidal.deploy.files import CoordinatorPlaces, SitePlaces
from fidal.deploy.keys import make_authority, make_secret, make_server, make_site_key
from fidal.deploy.toml import to_toml
from fidal.experiment.config import ConfigError
from fidal.storage import write_atomic

SITE_HEAD: Final = """\
A clinic of a federation: docs/deploy.md goes through this file. Nothing here is sent to anybody,
but for the name."""
COORDINATOR_HEAD: Final = """\
The coordinator of a federation: docs/deploy.md goes through this file."""


def init_site(
    folder: Path, name: str, coordinator: str, experiment: Path, ca: Path, images: Path
) -> SitePlaces:
    """A clinic's folder: site.toml, its key pair, the coordinator's certificate, the shared
    experiment, units and container files. `images` is the folder of the clinic's images, which
    holds their manifest.
    """
    places = SitePlaces(folder.absolute())
    _new(places.config)
    folder.mkdir(parents=True, exist_ok=True)
    _copy(experiment, places.folder / "experiment.toml")
    _copy(ca, places.ca)
    draft = SiteFile(
        folder=places.folder, name=name, coordinator=coordinator, data=Folder(manifest=images)
    )
    agreed = draft.read_experiment().benchmark
    assert isinstance(agreed, Remote)
    file = draft.model_copy(update={"data": _own_images(agreed, images.absolute())})
    make_site_key(places.private_key, places.public_key)
    places.state.mkdir(mode=0o700)
    places.flower.mkdir(mode=0o700)
    words = {"name": name, "data": images.absolute()}
    for template, written in (
        ("site.service", f"fidal-site-{name}.service"),
        ("connect.service", f"fidal-connect-{name}.service"),
        ("site.Containerfile", "Containerfile"),
        ("site.compose.yaml", "compose.yaml"),
    ):
        _render(template, places.folder / written, places.config, words)
    write_atomic(places.config, to_toml(file, SITE_HEAD).encode())
    read_file(places.config, SiteFile)
    return places


def init_coordinator(
    folder: Path, experiment: Path, sites: tuple[str, ...], names: tuple[str, ...]
) -> CoordinatorPlaces:
    """The coordinator's folder: coordinator.toml, its authority and server certificate, units and
    the proxy's configuration. `names` are what sites reach it by.
    """
    places = CoordinatorPlaces(folder.absolute())
    _new(places.config)
    for inside in ("tls", "sites", "flower", "runs"):
        (places.folder / inside).mkdir(parents=True, exist_ok=True)
    _copy(experiment, places.folder / "experiment.toml")
    file = CoordinatorFile(
        folder=places.folder, sites=sites, names=names, quorum=min(2, len(sites))
    )
    run_name = file.read_experiment().run_name
    make_authority(*places.authority, run_name)
    make_server(*places.server, names, places.authority)
    make_secret(places.secret)
    words = {
        "names": " ".join(names) or "localhost",
        "port": file.port,
        "ca": places.authority[1],
        "key": places.server[0],
        "certificate": places.server[1],
    }
    for template, written in (
        ("superlink.service", "fidal-superlink.service"),
        ("federation.service", "fidal-federation.service"),
        ("nginx.conf", "nginx.conf"),
    ):
        _render(template, places.folder / written, places.config, words)
    write_atomic(places.config, to_toml(file, COORDINATOR_HEAD).encode())
    read_file(places.config, CoordinatorFile)
    return places


def admit(file: CoordinatorFile, site: str, public_key: Path) -> None:
    """Keep a site's public key; `register` lets it in."""
    if site not in file.sites:
        raise ConfigError(f"'{site}' is not among the sites: {', '.join(file.sites)}")
    _copy(public_key, CoordinatorPlaces(file.folder).site_key(site))


def _own_images(agreed: Remote, images: Path) -> Source:
    """A manifest in the folder of the images, read as the federation agreed."""
    if len(agreed.shape) == 3 and agreed.shape[0] != agreed.shape[1]:
        raise ConfigError(f"benchmark.shape {list(agreed.shape)}: images must be square")
    size = agreed.shape[0] if len(agreed.shape) == 3 else 224
    return Folder(manifest=images / "manifest.csv", classes=agreed.classes, size=size)


def _render(template: str, path: Path, config: Path, words: dict[str, Any]) -> None:
    loader = PackageLoader("fidal.deploy", "templates")
    environment = Environment(
        loader=loader, undefined=StrictUndefined, keep_trailing_newline=True, autoescape=False
    )
    text = environment.get_template(f"{template}.j2").render(
        fidal=Path(shutil.which("fidal") or Path(sys.executable).parent / "fidal"),
        version=version("fidal"),
        user=getpass.getuser(),
        folder=config.parent,
        config=config,
        **words,
    )
    write_atomic(path, text.encode())


def _new(config: Path) -> None:
    if config.exists():
        raise ConfigError(f"{config} exists; name another folder, or move this one away")


def _copy(source: Path, target: Path) -> None:
    if not source.is_file():
        raise ConfigError(f"no file at {source}")
    if source.absolute() != target:
        write_atomic(target, source.read_bytes())
