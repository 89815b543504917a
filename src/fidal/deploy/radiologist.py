"""A simulated radiologist: answers at a site's desk over HTTP, as a page would, in its own time.

    python -m fidal.deploy.radiologist STATE ANSWERS --seconds 0.2

Reads address and token of the desk from the site's STATE folder and what to answer from the JSON
file ANSWERS. Now and then it presses the wrong key, takes that back, and answers rightly.
"""

import argparse
import contextlib
import http.client
import json
import random
import time
from pathlib import Path
from typing import Any, Final

SLIP: Final = 0.05
"""Share of answers with a wrong key first."""


class Desk:
    """The desk of a site, from outside."""

    def __init__(self, state: Path) -> None:
        self._address = (state / "desk.address").read_text().strip().removeprefix("http://")
        self._token = (state / "desk.token").read_text().strip()

    def ask(self, method: str, path: str, body: dict[str, str] | None = None) -> Any:
        """What the desk says."""
        connection = http.client.HTTPConnection(self._address, timeout=30)
        try:
            content = None if body is None else json.dumps(body)
            head = {"Authorization": f"Bearer {self._token}"}
            connection.request(method, path, content, head)
            response = connection.getresponse()
            found = json.loads(response.read())
        finally:
            connection.close()
        if response.status != http.client.OK:
            raise ValueError(f"the desk refused: {found.get('error')}")
        return found


def work_through(desk: Desk, truth: dict[str, str], seconds: float, by: str) -> int:
    """Answer everything that waits now. Out: how many."""
    worklist = desk.ask("GET", "/worklist")
    for task in worklist["pending"]:
        time.sleep(random.expovariate(1 / seconds))
        if random.random() < SLIP:
            wrong = random.choice([*worklist["classes"], "ood"])
            desk.ask("POST", "/answer", {"id": task["id"], "label": wrong, "by": by})
            desk.ask("POST", "/undo", {"by": by})
        desk.ask("POST", "/answer", {"id": task["id"], "label": truth[task["id"]], "by": by})
    return len(worklist["pending"])


def main() -> None:
    """Until it is ended."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("state", type=Path)
    parser.add_argument("answers", type=Path)
    parser.add_argument("--seconds", type=float, default=0.2, help="mean reading time per image")
    parser.add_argument("--by", default="radiologist")
    given = parser.parse_args()
    truth = json.loads(given.answers.read_text())
    while True:
        with contextlib.suppress(OSError):  # the site's process is starting, or has ended
            work_through(Desk(given.state), truth, given.seconds, given.by)
        time.sleep(0.5)


if __name__ == "__main__":
    main()
