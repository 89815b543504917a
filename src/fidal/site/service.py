"""The desk over HTTP, on this machine only: JSON for a page, or for whatever else people answer by.

    GET  /worklist                                  what waits, best first, and the classes
    POST /answer    {"id", "label", "by"}           a class, or "ood"
    POST /undo      {"by"}                          that person's latest answer

Every request carries the desk's token. It listens on the loopback address alone and answers only
requests that were addressed to it there, so no page of another origin can speak for a person.
"""

import hmac
import json
import logging
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Final

from fidal.site.desk import Desk
from fidal.site.ledger_file import LedgerError

log = logging.getLogger(__name__)

HOST: Final = "127.0.0.1"
LONGEST: Final = 65_536
"""Bytes of a request's body."""

PATIENCE: Final = 30.0
"""Seconds that a peer may stay silent."""


class DeskServer(ThreadingHTTPServer):
    """Serves a desk until `shutdown`. With port 0 the system chooses one."""

    daemon_threads = True

    def __init__(self, desk: Desk, token: str, port: int) -> None:
        super().__init__((HOST, port), _Request)
        self.desk, self.token = desk, token

    @property
    def address(self) -> str:
        """Where a page finds it."""
        return f"http://{HOST}:{self.server_port}"


class _Request(BaseHTTPRequestHandler):
    server: DeskServer
    timeout = PATIENCE

    def do_GET(self) -> None:
        self._answered("GET")

    def do_POST(self) -> None:
        self._answered("POST")

    def log_message(self, format: str, *args: object) -> None:
        """Ids of images are in no log."""

    def _answered(self, method: str) -> None:
        try:
            if not self._may_speak():
                self._send(401, {"error": "the desk's token is missing or wrong"})
            elif (method, self.path) == ("GET", "/worklist"):
                self._send(200, self._worklist())
            elif (method, self.path) == ("POST", "/answer"):
                text = self._fields("id", "label", "by")
                self.server.desk.answer(text["id"], text["label"], text["by"])
                self._send(200, {"answered": self.server.desk.answered()})
            elif (method, self.path) == ("POST", "/undo"):
                undone = self.server.desk.undo(self._fields("by")["by"])
                self._send(200, {"id": undone})
            else:
                self._send(404, {"error": "known: GET /worklist, POST /answer, POST /undo"})
        except (ValueError, LedgerError) as error:
            self._send(400, {"error": str(error)})

    def _may_speak(self) -> bool:
        """A request that a browser was made to send from elsewhere has another host or no token."""
        port = self.server.server_port
        here = self.headers.get("Host") in (f"{HOST}:{port}", f"localhost:{port}")
        given = self.headers.get("Authorization", "").encode()
        return here and hmac.compare_digest(given, f"Bearer {self.server.token}".encode())

    def _worklist(self) -> dict[str, Any]:
        desk = self.server.desk
        return {
            "site": desk.ledger.site,
            "classes": list(desk.classes),
            "answered": desk.answered(),
            "pending": [
                {"id": task.sample, "round": task.round, "rank": task.rank}
                for task in desk.pending()
            ],
        }

    def _fields(self, *names: str) -> dict[str, str]:
        length = self.headers.get("Content-Length", "")
        if not length.isdecimal() or int(length) > LONGEST:
            raise ValueError(f"a body of at most {LONGEST} bytes is needed, with its length")
        try:
            body = json.loads(self.rfile.read(int(length)))
        except (ValueError, RecursionError):
            raise ValueError("the body is no JSON") from None
        if not isinstance(body, dict) or set(body) != set(names):
            raise ValueError(f"needed are the fields {', '.join(names)}, and no others")
        if not all(isinstance(value, str) for value in body.values()):
            raise ValueError(f"the fields {', '.join(names)} are texts")
        return body

    def _send(self, status: int, content: dict[str, Any]) -> None:
        body = json.dumps(content).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.send_header("Cache-Control", "no-store")
        self.end_headers()
        self.wfile.write(body)
