"""The desk over HTTP: what a page would do, and what it must not let anybody else do."""

import http.client
import json
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from fidal.site.desk import Desk
from fidal.site.ledger import Ledger
from fidal.site.service import DeskServer

TOKEN = "a-token"


@pytest.fixture
def server(tmp_path: Path) -> Iterator[DeskServer]:
    ledger = Ledger.open(tmp_path / "ledger.sqlite", federation="f", site="east")
    ledger.ask(0, ["c", "a"])
    server = DeskServer(Desk(ledger, ("mel", "nv")), TOKEN, port=0)
    thread = threading.Thread(target=server.serve_forever, args=(0.01,))
    thread.start()
    yield server
    server.shutdown()
    thread.join()
    server.server_close()
    ledger.close()


def ask(
    server: DeskServer,
    method: str,
    path: str,
    body: object = None,
    headers: dict[str, str] | None = None,
) -> tuple[int, Any]:
    connection = http.client.HTTPConnection("127.0.0.1", server.server_port, timeout=5)
    content = body if isinstance(body, bytes) else json.dumps(body).encode() if body else None
    given = {"Authorization": f"Bearer {TOKEN}", **(headers or {})}
    connection.request(method, path, content, given)
    response = connection.getresponse()
    found = response.status, json.loads(response.read())
    connection.close()
    return found


def test_a_person_works_through_the_list(server: DeskServer) -> None:
    status, found = ask(server, "GET", "/worklist")
    assert status == 200
    assert found == {
        "site": "east",
        "classes": ["mel", "nv"],
        "answered": 0,
        "pending": [{"id": "c", "round": 0, "rank": 1}, {"id": "a", "round": 0, "rank": 2}],
    }
    answer = {"id": "c", "label": "nv", "by": "eva"}
    assert ask(server, "POST", "/answer", answer) == (200, {"answered": 1})
    assert server.desk.ledger.answers() == {"c": 1}
    assert ask(server, "POST", "/undo", {"by": "eva"}) == (200, {"id": "c"})
    assert ask(server, "POST", "/undo", {"by": "eva"}) == (200, {"id": None})
    assert len(ask(server, "GET", "/worklist")[1]["pending"]) == 2


def test_it_listens_on_the_loopback_address_alone(server: DeskServer) -> None:
    assert server.server_address[0] == "127.0.0.1"
    assert server.address == f"http://127.0.0.1:{server.server_port}"


@pytest.mark.parametrize(
    "headers",
    [
        {"Authorization": ""},
        {"Authorization": "Bearer a-toke"},
        {"Authorization": "a-token"},
        {"Host": "evil.example"},
        {"Host": "127.0.0.1"},
    ],
)
def test_without_the_token_or_from_elsewhere_nothing_is_told_or_taken(
    server: DeskServer, headers: dict[str, str]
) -> None:
    answer = {"id": "c", "label": "nv", "by": "eva"}
    for method, path, body in (("GET", "/worklist", None), ("POST", "/answer", answer)):
        status, found = ask(server, method, path, body, headers)
        assert (status, found) == (401, {"error": "the desk's token is missing or wrong"})
    assert server.desk.answered() == 0


@pytest.mark.parametrize(
    ("body", "says"),
    [
        ({"id": "x", "label": "nv", "by": "eva"}, "never asked"),
        ({"id": "c", "label": "wart", "by": "eva"}, "no class 'wart'"),
        ({"id": "c", "label": "nv", "by": ""}, "by"),
        ({"id": "c", "label": "nv"}, "needed are the fields id, label, by"),
        ({"id": "c", "label": "nv", "by": "e", "round": 1}, "and no others"),
        ({"id": "c", "label": 1, "by": "eva"}, "are texts"),
        (b"\xff\xff", "no JSON"),
        (b"[" * 60_000, "no JSON"),
        (b" " * 70_000, "at most 65536 bytes"),
    ],
)
def test_what_is_no_answer_is_refused_and_changes_nothing(
    server: DeskServer, body: object, says: str
) -> None:
    status, found = ask(server, "POST", "/answer", body)
    assert status == 400 and says in found["error"]
    assert server.desk.answered() == 0
    assert ask(server, "GET", "/worklist")[0] == 200


def test_other_paths_are_not_there(server: DeskServer) -> None:
    for method, path in (("GET", "/"), ("GET", "/../ledger.sqlite"), ("POST", "/worklist")):
        assert ask(server, method, path, {"by": "eva"} if method == "POST" else None)[0] == 404
