"""The site's local socket: what forwards the coordinator's messages talks to the site here.

A Unix socket that this user alone may open: no other machine reaches it.
"""

import contextlib
import logging
import socket
import socketserver
from pathlib import Path
from threading import BoundedSemaphore
from typing import Final

from fidal.federation.frames import WireError, receive, send
from fidal.site.reception import Reception

log = logging.getLogger(__name__)

PATIENCE: Final = 30.0
"""Seconds that a peer may stay silent in the middle of a message."""

PEERS: Final = 8
"""Connections at a time; more have to wait."""

LONGEST_PATH: Final = 100
"""Bytes; the system takes 107, in some places fewer."""


class SocketServer(socketserver.ThreadingMixIn, socketserver.UnixStreamServer):
    """One thread per connection; `Reception` takes their requests in turn."""

    daemon_threads = True

    def __init__(self, path: Path, reception: Reception) -> None:
        if len(bytes(path.absolute())) > LONGEST_PATH:
            raise ValueError(
                f"socket {path.absolute()}: its path is longer than the {LONGEST_PATH} bytes that "
                "the system allows; set `socket` to a shorter one, e.g. in /run/fidal"
            )
        _remove_stale(path)
        self.reception = reception
        self.places = BoundedSemaphore(PEERS)
        super().__init__(str(path), _Peer)
        path.chmod(0o600)


class _Peer(socketserver.BaseRequestHandler):
    """One connection: a request, its reply, until the peer hangs up."""

    server: SocketServer

    def handle(self) -> None:
        """A peer that goes away or falls silent is let go; its request has been carried out."""
        with self.server.places, contextlib.suppress(OSError):
            while self._one():
                pass

    def _one(self) -> bool:
        reception, connection = self.server.reception, self.request
        connection.settimeout(PATIENCE)
        try:
            packet = receive(connection, reception.array_limit)
        except WireError as error:
            send(connection, reception.refuse(error))
            return False
        if packet is None:
            return False
        send(connection, reception.answer(packet))
        return True


def _remove_stale(path: Path) -> None:
    """What a killed process left. A socket that somebody listens to stays."""
    if not path.is_socket():
        return
    with socket.socket(socket.AF_UNIX) as probe:
        try:
            probe.connect(str(path))
        except ConnectionRefusedError:
            path.unlink()
            return
    raise ValueError(f"socket {path}: another process of this site listens there; end it first")
