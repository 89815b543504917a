"""A message on a local socket: a short preamble, its head, its array. Nothing else is accepted.

What is read was sent by others: sizes are looked at before anything is allocated, and a peer that
stops talking is given up.
"""

import contextlib
import hashlib
import socket
import struct
from dataclasses import dataclass
from pathlib import Path
from typing import Final

MAGIC: Final = b"FDL1"
PREAMBLE: Final = struct.Struct(">4sIQ32s")
"""Magic, bytes of the head, bytes of the array, seal."""

HEAD_LIMIT: Final = 4 << 20
"""DenseNet-121 has 727 tensors, whose names and shapes take 80 kB."""

Buffer = bytes | bytearray | memoryview


class WireError(ValueError):
    """Bytes that are no message. The text tells what is wrong and repeats nothing of them."""


@dataclass(frozen=True, eq=False)
class Packet:
    """A message as bytes."""

    head: bytes
    """JSON, see `codec`."""
    array: Buffer
    """The weights, float32, little-endian; empty if the message has none."""
    seal: bytes
    """SHA-256 over both."""

    @property
    def size(self) -> int:
        """Bytes of head and array."""
        return len(self.head) + len(self.array)


def sealed(head: bytes, array: Buffer = b"") -> Packet:
    """A packet with its own seal."""
    return Packet(head, array, _seal(head, array))


def check_seal(packet: Packet) -> None:
    """A `WireError` unless head and array are what was sealed."""
    if _seal(packet.head, packet.array) != packet.seal:
        raise WireError("the message is damaged: it does not have its checksum")


def send(connection: socket.socket, packet: Packet) -> None:
    """Write one packet."""
    sizes = len(packet.head), len(packet.array)
    connection.sendall(PREAMBLE.pack(MAGIC, *sizes, packet.seal) + packet.head)
    connection.sendall(packet.array)


def receive(connection: socket.socket, array_limit: int) -> Packet | None:
    """Read one packet; None if the peer has hung up before its first byte."""
    preamble = _read(connection, PREAMBLE.size, may_end=True)
    if preamble is None:
        return None
    magic, head_size, array_size, seal = PREAMBLE.unpack(preamble)
    if magic != MAGIC:
        raise WireError("no message of fidal: it does not begin as one")
    if head_size > HEAD_LIMIT:
        raise WireError(f"the head has {head_size} bytes; at most {HEAD_LIMIT} are taken")
    if array_size > array_limit:
        raise WireError(f"the array has {array_size} bytes; at most {array_limit} are taken")
    head, array = _read(connection, head_size), _read(connection, array_size)
    assert head is not None and array is not None
    return Packet(bytes(head), array, seal)


def exchange(path: Path, packet: Packet) -> Packet:
    """Ask who listens at `path`, and wait for the reply, however long that takes."""
    with socket.socket(socket.AF_UNIX) as connection:
        connection.connect(str(path))
        with contextlib.suppress(BrokenPipeError, ConnectionResetError):
            send(connection, packet)  # who refuses does so early, and has said why
        reply = receive(connection, array_limit=len(packet.array))
    if reply is None:
        raise WireError("the other side hung up in place of a reply")
    return reply


def _seal(head: bytes, array: Buffer) -> bytes:
    found = hashlib.sha256(len(head).to_bytes(8, "big") + head)
    found.update(array)
    return found.digest()


def _read(connection: socket.socket, size: int, may_end: bool = False) -> bytearray | None:
    content = bytearray(size)
    left = memoryview(content)
    while left:
        count = connection.recv_into(left)
        if count == 0:
            if may_end and len(left) == size:
                return None
            raise WireError(f"the message ends {len(left)} bytes too early")
        left = left[count:]
    return content
