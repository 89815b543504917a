from pathlib import Path

import pytest

from fidal.data.folder import Folder
from fidal.deploy.config import CoordinatorFile, Privacy, SiteFile, read_file
from fidal.deploy.toml import to_toml
from fidal.experiment.config import ConfigError
from fidal.site.policy import Policy
from tests.deploy.made import EXPERIMENT, experiment

SITE = 'name = "east"\ncoordinator = "c:443"\n[data]\nname = "folder"\nmanifest = "m.csv"\n'


def read(folder: Path, text: str, kind: type = SiteFile) -> SiteFile:
    (folder / "file.toml").write_text(text)
    found = read_file(folder / "file.toml", kind)
    assert isinstance(found, SiteFile | CoordinatorFile)
    return found  # type: ignore[return-value]


def test_what_is_written_for_people_is_read_back_equal(tmp_path: Path) -> None:
    site = SiteFile(
        folder=tmp_path,
        name="east",
        coordinator="fidal.example.org:443",
        data=Folder(manifest=Path("/images/m.csv"), classes=("mel", "nv"), size=64),
        policy=Policy(rounds=3, smallest=5, accept=("train", "status")),
        answers="labels",
    )
    coordinator = CoordinatorFile(
        folder=tmp_path,
        sites=("east", "west"),
        names=("fidal.example.org",),
        privacy=Privacy(noise=1.0, clip=0.5, delta=1e-5),
    )
    for file in (site, coordinator):
        path = tmp_path / "file.toml"
        path.write_text(to_toml(file, "two\nlines"))
        assert read_file(path, type(file)) == file
        text = path.read_text()
        for field in type(file).model_fields.values():
            assert field.exclude or f"# {field.description}" in text
        assert text.startswith("# two\n# lines\n")


def test_paths_are_beside_the_file(tmp_path: Path) -> None:
    file = read(tmp_path, SITE)
    assert file.path(file.socket) == tmp_path / "site.sock"
    assert file.path("/run/fidal/s") == Path("/run/fidal/s")


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (("east", "East Wing"), "name: .*a site's name has small letters"),
        (("east", "../east"), "name: .*a site's name has small letters"),
        (('coordinator = "c:443"', ""), "coordinator: missing"),
        (
            ('name = "folder"', 'name = "fodler"'),
            "data: unknown data 'fodler'; did you mean 'folder'",
        ),
        (("[data]", "desk = 1\n[data]"), "desk: unknown key; did you mean 'desk_port'"),
        (("[data]", "desk_port = 99999\n[data]"), "desk_port: .*less than or equal to 65535"),
        (("[data]", "[policy]\nsmalest = 3\n[data]"), "policy.smalest: unknown key; did you mean"),
        (("[data]", 'folder = "/x"\n[data]'), "folder: unknown key"),
    ],
)
def test_mistakes_name_the_file_and_the_field(
    tmp_path: Path, change: tuple[str, str], says: str
) -> None:
    with pytest.raises(ConfigError, match=rf"file\.toml: {says}"):
        read(tmp_path, SITE.replace(*change))


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ('sites = ["a", "a"]', "sites: a name stands there twice"),
        ('sites = ["a"]', "quorum: 2 of 1 sites can't be there"),
        ("sites = []", "sites: .*at least 1"),
        ('sites = ["a", "b"]\n[privacy]\nnoise = 1\nclip = 0\ndelta = 1e-5', r"privacy\.clip"),
    ],
)
def test_mistakes_of_a_coordinator(tmp_path: Path, text: str, says: str) -> None:
    with pytest.raises(ConfigError, match=says):
        read(tmp_path, text, CoordinatorFile)


def test_patience_is_in_seconds(tmp_path: Path) -> None:
    file = CoordinatorFile(folder=tmp_path, sites=("a", "b"), request_minutes=2, answer_hours=0.5)
    assert file.patience.request == 120 and file.patience.answers == 1800
    assert (file.patience.poll, file.patience.quorum) == (60, 2)


def test_the_shared_experiment_is_one_of_remote_images(tmp_path: Path) -> None:
    experiment(tmp_path)
    assert read(tmp_path, SITE).read_experiment().run_name.startswith("trial-random-s0-")
    (tmp_path / "experiment.toml").write_text(
        'name = "x"\nstrategy = "random"\nbenchmark = "phantom"\n'
    )
    with pytest.raises(ConfigError, match="'phantom'; between machines it is 'remote'"):
        read(tmp_path, SITE).read_experiment()
    (tmp_path / "experiment.toml").write_text(EXPERIMENT.replace("trial", "tri/al"))
    with pytest.raises(ConfigError, match="name has letters, digits"):
        read(tmp_path, SITE).read_experiment()
