"""Real SuperLink, real SuperNodes: sites that never come or differ, people, strangers."""

import http.client
import json
import shutil
import ssl
import sys
from importlib.metadata import version
from pathlib import Path
from typing import Any

import pytest

import fidal.deploy.site
from fidal.deploy.config import SiteFile, read_file
from fidal.deploy.coordinator import connections, link_of
from fidal.deploy.files import CoordinatorPlaces, SitePlaces
from fidal.deploy.keys import make_authority, make_site_key, read_public_key
from fidal.deploy.site import connect_command
from fidal.federation.flower.superlink import register
from fidal.rows import read
from tests.federation.flower.cluster import SITES, Cluster, free_port, until
from tests.federation.flower.looking import audited, ledger_of
from tests.small import images

pytestmark = pytest.mark.slow


def test_a_round_goes_on_without_a_site_that_never_comes_and_with_one_that_has_no_labels(
    real: Cluster, manifest: Path, tmp_path: Path
) -> None:
    odd = images(tmp_path / "images", sites=SITES, foreign="north")
    real.renew(odd, rounds=1, strategy="random", request_minutes=1 / 6)
    for name in ("east", "north"):
        real.start_site(name)
    rows = read(real.go().rounds)
    for row in rows:
        if row["site"] == "*":
            missing = row["missing"]
            assert isinstance(missing, dict) and list(missing) == ["west"]
            assert str(missing["west"]).startswith("did not answer: not within 10 s, ")
    assert [row["site"] for row in rows] == ["east", "north", "*"] * 2
    north = [row for row in rows if row["site"] == "north"]
    assert [(row["labelled"], row["outliers"]) for row in north] == [(0, 5), (0, 10)]
    assert [row["labelled"] for row in rows if row["site"] == "east"] > [0, 0]


def another_version() -> None:
    fidal.deploy.site.version = lambda _: "9.9.9"  # type: ignore[attr-defined]


def test_another_version_and_another_experiment_are_refused_and_the_run_goes_on(
    real: Cluster, manifest: Path
) -> None:
    real.renew(manifest, rounds=1, strategy="random", quorum=1)
    north = real.sites["north"].folder / "experiment.toml"
    north.write_text(north.read_text().replace("seed = 0", "seed = 1"))
    real.start_site("east")
    real.start_site("north")
    real.start_site("west", another_version)
    *_, row = read(real.go().rounds)
    missing = row["missing"]
    assert isinstance(missing, dict)
    ours = version("fidal")
    assert f"this site runs fidal 9.9.9, the coordinator {ours}" in str(missing["west"])
    assert "this site has the experiment" in str(missing["north"])
    for name in ("north", "west"):
        federation = read_file(real.sites[name].folder / "site.toml", SiteFile).read_experiment()
        assert ledger_of(real.sites[name].folder / "state", federation.run_name, name) == []


def answer(real: Cluster, site: str, most: int) -> int:
    """A person who answers so many images at the desk of a site. Out: how many were there."""
    state = real.sites[site].folder / "state"
    until(lambda: (state / "desk.address").exists(), "the desk")
    address = (state / "desk.address").read_text().strip().removeprefix("http://")
    token = (state / "desk.token").read_text().strip()
    desk = http.client.HTTPConnection(address, timeout=10)
    head = {"Authorization": f"Bearer {token}"}

    def ask(method: str, path: str, body: dict[str, str] | None = None) -> Any:
        desk.request(method, path, json.dumps(body) if body else None, head)
        return json.loads(desk.getresponse().read())

    pending = ask("GET", "/worklist")["pending"][:most]
    for task in pending:
        word = "ood" if task["rank"] % 2 else "red"
        ask("POST", "/answer", {"id": task["id"], "label": word, "by": f"dr {site}"})
    return len(pending)


def test_people_answer_in_their_own_time_and_late_answers_are_not_lost(
    real: Cluster, manifest: Path
) -> None:
    people = {"answers": "people"}
    real.renew(manifest, people, rounds=1, strategy="random", answer_hours=8 / 3600)
    for name in SITES:
        real.start_site(name)
    process = real.start_coordinator()
    until(lambda: all(audited(real, name, "QueryReply") == 1 for name in SITES), "the worklists")
    assert answer(real, "east", 5) == 5
    assert answer(real, "north", 2) == 2
    until(lambda: audited(real, "west", "TrainRequest") == 1, "the deadline")
    assert answer(real, "west", 1) == 1  # too late for this round
    until(lambda: audited(real, "west", "QueryReply") == 2, "the next worklists")
    waiting = {name: answer(real, name, 99) for name in SITES}
    assert waiting == {"east": 5, "north": 5 + 3, "west": 5 + 4}
    process.join(120)
    assert process.exitcode == 0
    rows = {(row["site"], row["round"]): row for row in read(real.run_folder.rounds)}
    given = {key: (row["answered_id"], row["answered_ood"]) for key, row in rows.items()}
    assert [given[name, 0] for name in SITES] == [(2, 3), (1, 1), (0, 0)]
    assert [given[name, 1] for name in SITES] == [(2, 3)] * 3
    totals = [(rows[name, 1]["labelled"], rows[name, 1]["outliers"]) for name in SITES]
    assert [a + b for a, b in totals] == [10, 10, 10]  # what was answered late is in


def test_a_wrong_key_a_wrong_authority_and_no_tls_do_not_get_in(
    running: Cluster, tmp_path: Path
) -> None:
    file, places = running.sites["east"], SitePlaces(running.sites["east"].folder)
    make_site_key(tmp_path / "other.key", tmp_path / "other.pub")
    make_authority(tmp_path / "ca.key", tmp_path / "ca.pem", "another")
    other_key = {str(places.private_key): str(tmp_path / "other.key")}
    other_ca = {str(places.ca): str(tmp_path / "ca.pem")}

    def command(other: dict[str, str]) -> list[str]:
        own = connect_command(file.model_copy(update={"runtime_port": free_port()}))
        return [other.get(word, word) for word in own]

    attempts = {
        "wrong key": command(other_key),
        "wrong authority": command(other_ca),
        "no tls": [
            *(
                str(Path(sys.executable).with_name("flower-supernode")),
                "--insecure",
                "--superlink",
                file.coordinator,
            ),
            *("--isolation", "process", "--max-retries", "1", "--port", str(free_port())),
        ],
    }
    for name, words in attempts.items():
        running._spawn(name, words, tmp_path)
    try:
        until(lambda: running.processes["wrong key"].poll() is not None, "the refusal", 60)
        assert running.processes["wrong key"].returncode != 0
        assert "Failed to initialize the connection" in running.log("wrong key")
        until(lambda: "CERTIFICATE_VERIFY_FAILED" in running.log("wrong authority"), "TLS", 60)
        until(lambda: running.processes["no tls"].poll() is not None, "the refusal", 60)
    finally:
        for name in attempts:
            running.end(name)
    assert sorted(connections(running.coordinator)) == sorted(SITES)


@pytest.mark.skipif(shutil.which("nginx") is None, reason="no nginx here")
def test_through_the_proxy_sites_reach_the_fleet_path_and_nothing_else(
    running: Cluster, tmp_path: Path
) -> None:
    file, places = running.sites["east"], CoordinatorPlaces(running.folder)
    public = free_port()
    ours = (running.folder / "nginx.conf").read_text().replace("listen 443", f"listen {public}")
    (tmp_path / "site.conf").write_text(ours.replace(":8000;", f":{running.coordinator.port};"))
    (tmp_path / "nginx.conf").write_text(
        f"daemon off; pid {tmp_path}/pid; error_log stderr; events {{}}\n"
        f"http {{ client_body_temp_path {tmp_path}; proxy_temp_path {tmp_path};\n"
        f"include {tmp_path}/site.conf; }}\n"
    )
    make_site_key(tmp_path / "site.key", tmp_path / "site.pub")
    command = connect_command(file.model_copy(update={"runtime_port": free_port()}))
    other = {
        str(places.folder.parent / "east" / "site.key"): str(tmp_path / "site.key"),
        file.coordinator: f"localhost:{public}",
    }
    keys = {name: read_public_key(places.site_key(name)) for name in SITES}
    link = link_of(running.coordinator)
    running._spawn("proxy", ["nginx", "-c", str(tmp_path / "nginx.conf"), "-e", "stderr"], tmp_path)
    try:
        register(link, {**keys, "south": read_public_key(tmp_path / "site.pub")})
        context = ssl.create_default_context(cafile=str(places.authority[1]))
        web = http.client.HTTPSConnection("localhost", public, timeout=10, context=context)
        until(lambda: reached(web, "/") is not None, "the proxy", 20)
        for path in ("/", "/v1/control/list-nodes", "/v1/runtime/acquire-task", "/docs"):
            assert reached(web, path) == 404
        assert reached(web, "/v1/fleet/pull-messages") not in (None, 404, 502)
        running._spawn("node south", [other.get(word, word) for word in command], tmp_path)
        until(lambda: connections(running.coordinator)["south"] == "online", "the site", 60)
    finally:
        for name in ("node south", "proxy"):
            running.end(name)
        register(link, keys)


def reached(web: http.client.HTTPSConnection, path: str) -> int | None:
    """The status that a POST gets; None while nobody listens."""
    try:
        web.request("POST", path, b"", {"Content-Type": "application/protobuf"})
        response = web.getresponse()
        response.read()
        return response.status
    except OSError:
        web.close()
        return None
