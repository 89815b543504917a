"""What `init` writes is whole, and says what a reviewer looks for."""

import configparser
import shutil
import subprocess
from pathlib import Path

import pytest

from fidal.data.folder import Folder
from fidal.deploy.config import CoordinatorFile, SiteFile, read_file
from fidal.deploy.files import CoordinatorPlaces
from fidal.deploy.init import admit, init_site
from fidal.deploy.keys import read_public_key
from fidal.experiment.config import ConfigError
from tests.deploy.made import experiment, made_coordinator, made_site
from tests.small import COLOURS


def unit(path: Path) -> configparser.ConfigParser:
    parser = configparser.ConfigParser(strict=False, interpolation=None)
    parser.optionxform = str  # type: ignore[assignment,method-assign]
    parser.read_string(path.read_text())
    return parser


def test_a_site_s_folder_is_ready_but_for_its_images(tmp_path: Path) -> None:
    places = made_site(tmp_path)
    file = read_file(places.config, SiteFile)
    assert (file.name, file.coordinator) == ("east", "fidal.example.org:443")
    assert isinstance(file.data, Folder)
    assert file.data.classes == tuple(COLOURS) and file.data.size == 16
    assert file.data.manifest == tmp_path / "images" / "manifest.csv"
    assert file.read_experiment().benchmark.name == "remote"
    assert places.ca.read_bytes() == (tmp_path / "c" / "tls" / "ca.pem").read_bytes()
    read_public_key(places.public_key)
    assert places.state.stat().st_mode & 0o777 == 0o700


def test_units_restart_as_flower_needs_it_and_see_what_they_need(tmp_path: Path) -> None:
    places = made_site(tmp_path)
    site = unit(places.folder / "fidal-site-east.service")["Service"]
    connection = unit(places.folder / "fidal-connect-east.service")["Service"]
    images = str(tmp_path / "images")
    assert site["ExecStart"].endswith(f"site serve {places.config}")
    assert connection["ExecStart"].endswith(f"site connect {places.config}")
    assert int(connection["RestartSec"]) > 60 and connection["Restart"] == "always"
    assert site["ReadOnlyPaths"] == images and connection["InaccessiblePaths"] == images
    assert site["IPAddressDeny"] == "any"
    for service in (site, connection):
        off = "FLWR_TELEMETRY_ENABLED=0 FLWR_DISABLE_UPDATE_CHECK=1"
        assert service["Environment"] == off
        assert service["NoNewPrivileges"] == "yes" and service["ProtectSystem"] == "strict"


def test_containers_mount_images_read_only_and_only_into_the_site(tmp_path: Path) -> None:
    places = made_site(tmp_path)
    text = (places.folder / "compose.yaml").read_text()
    site, connection = text.split("  connect:")
    images = tmp_path / "images"
    assert f"- {images}:{images}:ro" in site
    assert str(images) not in connection
    assert "FLWR_TELEMETRY_ENABLED=0" in (places.folder / "Containerfile").read_text()


@pytest.mark.skipif(shutil.which("systemd-analyze") is None, reason="no systemd here")
def test_systemd_reads_the_units(tmp_path: Path) -> None:
    made_site(tmp_path)
    units = [str(path) for path in tmp_path.rglob("*.service")]
    found = subprocess.run(["systemd-analyze", "verify", *units], capture_output=True, text=True)
    assert "Unknown" not in found.stderr and "Failed to parse" not in found.stderr


def test_the_proxy_shows_the_fleet_path_and_nothing_else(tmp_path: Path) -> None:
    text = (made_coordinator(tmp_path).folder / "nginx.conf").read_text()
    assert "server_name fidal.example.org 10.0.0.7;" in text
    locations = [line.split()[1] for line in text.splitlines() if "location" in line]
    assert locations == ["/v1/fleet/", "/"]
    assert "return 404" in text.split("location / {")[1]


def test_a_site_is_admitted_by_its_public_key(tmp_path: Path) -> None:
    site = made_site(tmp_path)
    file = read_file(tmp_path / "c" / "coordinator.toml", CoordinatorFile)
    admit(file, "east", site.public_key)
    places = CoordinatorPlaces(file.folder)
    assert places.site_key("east").read_bytes() == site.public_key.read_bytes()
    with pytest.raises(ConfigError, match="'north' is not among the sites: east, west"):
        admit(file, "north", site.public_key)


def test_nothing_is_overwritten(tmp_path: Path) -> None:
    places = made_site(tmp_path)
    before = {path: path.read_bytes() for path in places.folder.rglob("*") if path.is_file()}
    with pytest.raises(ConfigError, match=r"site\.toml exists; name another folder"):
        made_site(tmp_path)
    with pytest.raises(ConfigError, match=r"coordinator\.toml exists"):
        made_coordinator(tmp_path)
    assert before == {p: p.read_bytes() for p in places.folder.rglob("*") if p.is_file()}


def test_what_is_not_there_is_named(tmp_path: Path) -> None:
    gone = tmp_path / "gone.pem"
    with pytest.raises(ConfigError, match=f"no file at {gone}"):
        init_site(tmp_path / "s", "east", "c:443", experiment(tmp_path), gone, tmp_path)
