"""The site's audit log: every message in and out, in a file that only grows.

One JSON object per line. Each holds the hash of the line before it and its own, so that a line that
was changed, taken out or put in breaks the chain from there on. Lines cut off at the end don't:
note the last hash elsewhere now and then, and `verify` finds out whether it is still there.

What a reviewer wants to know is in it: all counts that left the site, and of weights their number
and the checksum of the message that carried them.
"""

import fcntl
import hashlib
import json
import os
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final, Literal

from fidal.federation.frames import Packet
from fidal.storage import StateError, sync_folder, write_all, writing

BEGINNING: Final = "0" * 64
"""Stands for the hash of the line before the first."""

Entry = dict[str, Any]


class Audit:
    """The one process that writes the log. A message is in it before it is acted on or sent."""

    def __init__(self, path: Path) -> None:
        self.path = path
        with writing(path):
            new = not path.exists()
            self._file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o600)
            if new:
                sync_folder(path.parent)
        try:
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError as error:
            os.close(self._file)
            raise ValueError(f"{path}: another process is at work on this site") from error
        self._number, self._last = 0, BEGINNING
        torn = self._cut_torn_line()
        for entry in verified(path):
            self._number, self._last = entry["number"], entry["hash"]
        if torn:
            self.note(
                f"{torn} bytes of a line that was cut off by a power cut or kill were removed"
            )

    def message(self, way: Literal["in", "out"], packet: Packet, told: Entry) -> None:
        """`told` is what the message says, without the values of weights."""
        content = {"bytes": packet.size, "sha256": packet.seal.hex(), **told}
        self._append({"way": way, **content})

    def note(self, text: str) -> None:
        """Something that is no message: bytes that were none, a start, a torn line."""
        self._append({"way": "note", "text": text})

    def close(self) -> None:
        """Let the file go."""
        os.close(self._file)

    def _append(self, content: Entry) -> None:
        now = datetime.now(UTC).isoformat(timespec="milliseconds")
        entry = {"number": self._number + 1, "time": now, **content, "before": self._last}
        entry["hash"] = _hash(entry)
        with writing(self.path):
            write_all(self._file, json.dumps(entry, allow_nan=False).encode() + b"\n")
        self._number, self._last = entry["number"], entry["hash"]

    def _cut_torn_line(self) -> int:
        content = self.path.read_bytes()
        end = content.rfind(b"\n") + 1
        os.ftruncate(self._file, end)
        return len(content) - end


def verified(path: Path) -> Iterator[Entry]:
    """All entries, oldest first. A chain that is broken is a `StateError` that says where."""
    number, last = 0, BEGINNING
    try:
        file = path.open("rb")
    except OSError as error:
        raise StateError(f"{path} can't be read: {error.strerror}") from error
    with file:
        for line in file:
            number += 1
            try:
                entry: Entry = json.loads(line)
                fits = (entry["number"], entry["before"]) == (number, last)
                fits = fits and entry["hash"] == _hash(entry)
            except (ValueError, KeyError, TypeError):
                fits = False
            if not fits:
                raise StateError(
                    f"{path}, line {number}: the chain is broken here; this line, or one before "
                    "it, is not what was written"
                )
            last = entry["hash"]
            yield entry


def verify(path: Path, expected: str | None = None) -> tuple[int, str]:
    """How many entries there are and the hash of the last, once the whole chain holds.

    `expected` is a hash that was noted elsewhere: it must be in the chain.
    """
    number, last, found = 0, BEGINNING, expected is None
    for entry in verified(path):
        number, last = entry["number"], entry["hash"]
        found = found or last == expected
    if not found:
        raise StateError(
            f"{path}: no entry has the hash {expected}; the log was cut off or replaced after "
            "that hash had been noted"
        )
    return number, last


def _hash(entry: Entry) -> str:
    content = {key: value for key, value in entry.items() if key != "hash"}
    return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()
