import socket
import threading

import pytest

from fidal.federation.frames import (
    HEAD_LIMIT,
    MAGIC,
    PREAMBLE,
    Packet,
    WireError,
    check_seal,
    receive,
    sealed,
    send,
)


def through(content: bytes, limit: int = 1000) -> Packet | None:
    """What `receive` makes of these bytes."""
    ours, theirs = socket.socketpair()
    with ours, theirs:
        theirs.settimeout(5)
        writer = threading.Thread(target=lambda: (ours.sendall(content), ours.close()))
        writer.start()
        try:
            return receive(theirs, limit)
        finally:
            writer.join()


def as_bytes(packet: Packet) -> bytes:
    ours, theirs = socket.socketpair()
    with ours, theirs:
        send(ours, packet)
        ours.shutdown(socket.SHUT_WR)
        content = b""
        while piece := theirs.recv(65536):
            content += piece
        return content


def test_a_packet_comes_through_whole() -> None:
    packet = sealed(b'{"a": 1}', b"\x01\x02\x03\x04" * 200)
    found = through(as_bytes(packet))
    assert found is not None
    assert (found.head, bytes(found.array), found.seal) == (packet.head, packet.array, packet.seal)
    check_seal(found)
    assert found.size == 8 + 800


def test_a_peer_that_hangs_up_at_once_is_no_error() -> None:
    assert through(b"") is None


@pytest.mark.parametrize("left", [1, 10, PREAMBLE.size, PREAMBLE.size + 3, -1])
def test_a_truncated_packet_is_refused(left: int) -> None:
    whole = as_bytes(sealed(b'{"a": 1}', b"abcd"))
    with pytest.raises(WireError, match="too early"):
        through(whole[:left])


def test_sizes_are_looked_at_before_anything_is_read() -> None:
    seal = bytes(32)
    for head, array, says in [
        (HEAD_LIMIT + 1, 0, "the head has"),
        (2**32 - 1, 0, "the head has"),
        (2, 1001, "the array has 1001 bytes; at most 1000"),
        (2, 2**63, "the array has"),
    ]:
        with pytest.raises(WireError, match=says):
            through(PREAMBLE.pack(MAGIC, head, array, seal))


def test_anything_else_is_refused_by_its_first_bytes() -> None:
    with pytest.raises(WireError, match="does not begin as one"):
        through(b"GET / HTTP/1.1\r\nHost: localhost\r\nAccept: */*\r\n\r\n")


def test_the_seal_covers_head_and_array_and_where_one_ends() -> None:
    packet = sealed(b"ab", b"cd")
    for odd in (
        Packet(b"aB", b"cd", packet.seal),
        Packet(b"ab", b"cD", packet.seal),
        Packet(b"abc", b"d", packet.seal),
    ):
        with pytest.raises(WireError, match="checksum"):
            check_seal(odd)
