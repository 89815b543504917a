"""Hostile peers at the site's socket: an error reply, the site lives, nothing is written."""

import json
import socket
import stat
import struct
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from fidal.federation.codec import decode, encode
from fidal.federation.frames import MAGIC, PREAMBLE, Packet, receive, sealed
from fidal.federation.messages import (
    EvaluateRequest,
    Failure,
    QueryRequest,
    StatusReply,
    StatusRequest,
)
from fidal.site import server
from fidal.site.audit import verify
from fidal.site.server import SocketServer
from tests.site import clinic
from tests.site.served import FEDERATION, STAMP, Served, served


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    with served(tmp_path_factory.mktemp("east")) as site:
        site.ask(QueryRequest(FEDERATION, 0, 12, None))
        yield site


def raw(site: Served, content: bytes, end: bool = True) -> Packet | None:
    """What comes back for these bytes."""
    with socket.socket(socket.AF_UNIX) as connection:
        connection.settimeout(5)
        connection.connect(str(site.socket))
        try:
            connection.sendall(content)
            if end:
                connection.shutdown(socket.SHUT_WR)
            return receive(connection, 0)
        except (BrokenPipeError, ConnectionResetError):
            return None


def framed(head: bytes, array: bytes = b"") -> bytes:
    packet = sealed(head, array)
    return PREAMBLE.pack(MAGIC, len(head), len(array), packet.seal) + head + array


def lives(site: Served) -> None:
    status = site.ask(StatusRequest(FEDERATION, 0))
    assert isinstance(status, StatusReply) and status.asked == 12


def failure(packet: Packet | None) -> Failure:
    assert packet is not None
    _, message = decode(packet)
    assert isinstance(message, Failure)
    return message


def good(site: Served) -> bytes:
    return encode(EvaluateRequest(FEDERATION, 0, clinic.fresh(site.site)), STAMP).head


HOSTILE = {
    "nothing of ours": b"GET / HTTP/1.1\r\n\r\n" + b"x" * 100,
    "a head of four gigabytes": PREAMBLE.pack(MAGIC, 2**32 - 1, 0, bytes(32)),
    "an array of exabytes": PREAMBLE.pack(MAGIC, 2, 2**62, bytes(32)) + b"{}",
    "a truncated preamble": MAGIC + b"\0\0",
    "a truncated head": framed(b'{"kind": 1}')[:-4],
    "a wrong checksum": PREAMBLE.pack(MAGIC, 2, 0, bytes(32)) + b"{}",
    "no JSON": framed(b"\x80\x04\x95"),
    "deep JSON": framed(b"[" * 1_000_000),
    "another type": framed(b'"StatusRequest"'),
    "an unknown kind": framed(b'{"stamp": {}, "kind": "Shell", "fields": {}}'),
}


@pytest.mark.parametrize("what", HOSTILE)
def test_hostile_bytes_get_an_error_and_change_nothing(site: Served, what: str) -> None:
    before = site.written()
    said = failure(raw(site, HOSTILE[what]))
    assert said.trouble == "refused" and len(said.reason) < 250
    assert site.written() == before
    lives(site)


@pytest.mark.parametrize(
    "word", ["../../../etc/passwd", "/etc/passwd", "C:\\x", "a\0b", "~/.ssh/id_rsa", "$(reboot)"]
)
@pytest.mark.parametrize("kind", ["StatusRequest", "QueryRequest", "EvaluateRequest"])
def test_path_like_texts_are_refused_and_not_repeated(site: Served, kind: str, word: str) -> None:
    before = site.written()
    head = json.loads(good(site))
    fields = {"federation": word, "round": 0}
    if kind != "StatusRequest":
        fields["weights"] = None
    head.update(kind=kind, fields=fields)
    said = failure(raw(site, framed(json.dumps(head).encode())))
    assert word not in said.reason
    assert site.written() == before
    lives(site)


def test_an_array_larger_than_the_network_is_not_read(site: Served) -> None:
    head = good(site)
    size = len(clinic.fresh(site.site).flat) * 4
    seal = bytes(32)
    said = failure(raw(site, PREAMBLE.pack(MAGIC, len(head), size + 1, seal) + head, end=False))
    assert f"at most {size} are taken" in said.reason
    lives(site)


@given(st.binary(max_size=400))
@settings(
    max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
def test_fuzzed_bytes(site: Served, content: bytes) -> None:
    before = site.written()
    for attempt in (content, MAGIC + content, framed(content)):
        reply = raw(site, attempt)
        if attempt:
            assert failure(reply).trouble == "refused"
    assert site.written() == before


@given(st.data())
@settings(
    max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
def test_good_messages_with_a_few_changed_bytes(site: Served, data: st.DataObject) -> None:
    content = bytearray(good(site))
    for _ in range(data.draw(st.integers(1, 4))):
        place = data.draw(st.integers(0, len(content) - 1))
        content[place] = data.draw(st.integers(0, 255))
    before = site.written()
    reply = raw(site, framed(bytes(content)))
    assert failure(reply).trouble == "refused"  # its array is missing, if nothing else
    assert site.written() == before


def test_after_all_that_the_site_lives_and_its_log_holds(site: Served) -> None:
    lives(site)
    assert verify(site.folder / "audit.jsonl")[0] > 10


def test_a_silent_peer_is_let_go(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(server, "PATIENCE", 0.05)
    with served(tmp_path / "slow") as site, socket.socket(socket.AF_UNIX) as peer:
        peer.settimeout(5)
        peer.connect(str(site.socket))
        peer.sendall(MAGIC)
        assert peer.recv(1) == b""


def test_many_peers_at_once(site: Served) -> None:
    results: list[bool] = []

    def one() -> None:
        results.append(isinstance(site.ask(StatusRequest(FEDERATION, 0)), StatusReply))

    threads = [threading.Thread(target=one) for _ in range(30)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert results == [True] * 30


def test_a_peer_that_dies_during_its_request_does_not_harm(site: Served) -> None:
    packet = encode(StatusRequest(FEDERATION, 0), STAMP)
    for _ in range(5):
        with socket.socket(socket.AF_UNIX) as peer:
            linger = struct.pack("ii", 1, 0)
            peer.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, linger)
            peer.connect(str(site.socket))
            peer.sendall(framed(packet.head))
    lives(site)


# The socket itself


def test_only_this_user_may_open_it(site: Served) -> None:
    assert stat.S_IMODE(site.socket.stat().st_mode) == 0o600


def test_a_socket_left_by_a_killed_process_is_replaced_and_a_used_one_is_not(
    tmp_path: Path,
) -> None:
    left = tmp_path / "east" / "s"
    left.parent.mkdir()
    with socket.socket(socket.AF_UNIX) as dead:
        dead.bind(str(left))
    with served(tmp_path / "east") as site:
        site.ask(StatusRequest(FEDERATION, 0))
        with pytest.raises(ValueError, match="another process of this site listens"):
            SocketServer(left, None)  # type: ignore[arg-type]


def test_a_path_that_is_too_long_is_explained(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="set `socket` to a shorter one"):
        SocketServer(tmp_path / ("x" * 120), None)  # type: ignore[arg-type]
