"""`fidal site` as people use it."""

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from fidal.cli.commands import app
from fidal.deploy.config import SiteFile, read_file
from fidal.deploy.files import SitePlaces
from fidal.federation.codec import encode, told
from fidal.federation.messages import Stamp, StatusReply
from fidal.site.audit import Audit, verify
from fidal.site.switch import Switch
from fidal.storage import StateError
from tests.deploy.made import experiment, made_coordinator, made_site

REPLY = StatusReply("east", 4, 600, 20, 7, 5, 2, 80, 9)


@pytest.fixture
def places(tmp_path: Path) -> SitePlaces:
    places = made_site(tmp_path)
    audit = Audit(places.audit)
    audit.note("fidal serves")
    for _ in range(3):
        audit.message("out", encode(REPLY, Stamp(1, "0.1.0", "ab")), told(REPLY))
    audit.close()
    return places


def run(*words: object) -> str:
    result = CliRunner().invoke(app, [str(word) for word in words], catch_exceptions=False)
    assert result.exit_code == 0, result.output
    return str(result.output)


def test_init_writes_a_folder_and_says_what_goes_where(tmp_path: Path) -> None:
    ca = made_coordinator(tmp_path).authority[1]
    said = run(
        *("site", "init", tmp_path / "s", "--name", "east", "--coordinator", "c:443"),
        *("--experiment", experiment(tmp_path), "--ca", ca, "--images", tmp_path / "images"),
    )
    assert f"{tmp_path / 's' / 'site.pub'}: send it to the coordinator, and nothing else" in said
    assert read_file(tmp_path / "s" / "site.toml", SiteFile).name == "east"


def test_the_switch_is_turned(places: SitePlaces) -> None:
    switch = Switch(places.switch)
    for command, position in (("pause", "paused"), ("resume", "on"), ("stop", "stopped")):
        assert f"the site is {position}" in run("site", command, places.config)
        assert switch.position == position
    assert "stopped" in run("site", "status", places.config)


def test_the_log_is_shown_last_entries_last(places: SitePlaces) -> None:
    lines = run("site", "audit", "show", places.config, "--last", 2).splitlines()
    assert [line.split()[0] for line in lines] == ["number", "3", "4"]
    assert "StatusReply: site=east, round=4, images=600" in lines[-1]
    assert len(run("site", "audit", "show", places.config, "--last", 0).splitlines()) == 5


def test_the_log_is_verified_and_a_changed_one_is_not(places: SitePlaces) -> None:
    _, last = verify(places.audit)
    said = run("site", "audit", "verify", places.config, "--contains", last)
    assert said == f"4 entries, the chain is whole; the last hash is {last}\n"
    lines = places.audit.read_text().splitlines()
    entry = json.loads(lines[1])
    entry["fields"]["labelled"] = 1
    places.audit.write_text("\n".join([lines[0], json.dumps(entry), *lines[2:]]) + "\n")
    with pytest.raises(StateError, match="line 2: the chain is broken"):
        run("site", "audit", "verify", places.config)
