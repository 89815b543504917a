"""The toy clinic of `clinic.py` behind its socket."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from fidal.federation.codec import WIRE, decode, encode
from fidal.federation.frames import Packet, exchange
from fidal.federation.messages import Failure, Reply, Request, Stamp
from fidal.site.audit import Audit
from fidal.site.policy import Policy
from fidal.site.reception import Reception
from fidal.site.server import SocketServer
from fidal.site.site import Site
from fidal.site.switch import Switch
from tests.site.clinic import make_site

FEDERATION = "toy-federation"
STAMP = Stamp(WIRE, "0.1.0", "0123456789ab")


@dataclass
class Served:
    """A site that answers at `socket`, and everything that went through there."""

    site: Site
    folder: Path
    socket: Path
    switch: Switch
    packets: list[Packet] = field(default_factory=list)

    def ask(self, request: Request | Reply, stamp: Stamp = STAMP) -> Reply:
        return self.send(encode(request, stamp))

    def send(self, packet: Packet) -> Reply:
        reply = exchange(self.socket, packet)
        self.packets += [packet, reply]
        _, message = decode(reply)
        assert hasattr(message, "site")
        return message  # type: ignore[return-value]

    def refusal(self, request: Request | Reply, stamp: Stamp = STAMP) -> Failure:
        reply = self.ask(request, stamp)
        assert isinstance(reply, Failure)
        return reply

    def written(self) -> dict[str, bytes]:
        """All files, but for the audit log."""
        return {
            str(path.relative_to(self.folder)): path.read_bytes()
            for path in self.folder.rglob("*")
            if path.is_file() and path.name != "audit.jsonl"
        }


@contextmanager
def served(
    folder: Path, strategy: str = "random", policy: Policy | None = None, name: str = "east"
) -> Iterator[Served]:
    site = make_site(folder, strategy, name=name)
    switch, audit = Switch(folder / "switch"), Audit(folder / "audit.jsonl")
    reception = Reception(site, STAMP, policy or Policy(), switch, audit)
    server = SocketServer(folder / "s", reception)
    thread = threading.Thread(target=server.serve_forever, args=(0.01,))
    thread.start()
    try:
        yield Served(site, folder, folder / "s", switch)
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
        audit.close()
        site.ledger.close()
