from pathlib import Path

from fidal.deploy.config import CoordinatorFile, SiteFile, read_file
from fidal.deploy.demo import DATA, SITES, _machines
from fidal.deploy.files import CoordinatorPlaces


def test_the_demo_s_machines_are_configured_as_real_ones(tmp_path: Path) -> None:
    coordinator, sites = _machines(tmp_path / "demo", tmp_path / "cache")
    assert read_file(tmp_path / "demo" / "coordinator" / "coordinator.toml", CoordinatorFile)
    assert coordinator.sites == SITES
    for site in sites:
        found = read_file(site.folder / "site.toml", SiteFile)
        assert found == site and found.data == DATA and found.answers == "people"
        assert found.read_experiment() == coordinator.read_experiment()
        assert CoordinatorPlaces(coordinator.folder).site_key(site.name).exists()
    agreed = coordinator.read_experiment().benchmark
    assert getattr(agreed, "shape", None) == (DATA.pixels, DATA.pixels, 3)
    ports = [coordinator.port, *(site.runtime_port for site in sites)]
    assert len(set(ports)) == 4
