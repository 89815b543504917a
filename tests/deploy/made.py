"""A coordinator's and a site's folder, as `init` makes them."""

from pathlib import Path

from fidal.deploy.files import CoordinatorPlaces, SitePlaces
from fidal.deploy.init import init_coordinator, init_site
from tests.small import COLOURS

EXPERIMENT = f"""\
name = "trial"
rounds = 1
budget = 5
strategy = "random"
benchmark = {{ name = "remote", classes = {list(COLOURS)}, shape = [16, 16, 3] }}
training = {{ rounds = 1, batch_size = 8, device = "cpu" }}
"""


def experiment(folder: Path) -> Path:
    path = folder / "experiment.toml"
    path.write_text(EXPERIMENT)
    return path


def made_coordinator(folder: Path, sites: tuple[str, ...] = ("east", "west")) -> CoordinatorPlaces:
    return init_coordinator(
        folder / "c", experiment(folder), sites, ("fidal.example.org", "10.0.0.7")
    )


def made_site(folder: Path, name: str = "east", manifest: Path | None = None) -> SitePlaces:
    if not (folder / "c").exists():
        made_coordinator(folder)
    images = manifest.parent if manifest else folder / "images"
    ca = CoordinatorPlaces(folder / "c").authority[1]
    address = "fidal.example.org:443"
    return init_site(folder / name, name, address, experiment(folder), ca, images)
