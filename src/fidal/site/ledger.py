"""The site's ledger: which images were put before the expert, and every answer ever given.

One SQLite file per site, and one table of events that only ever grows: a `query` opens a round, an
`ask` puts one image on its worklist, an `answer` says what the expert saw, an `undo` takes it back;
a correction is a later answer. Everything else is read off the events.

Write-ahead log and synchronous = FULL: a commit returns after its events are on the disk, so
neither a kill nor a power cut loses a committed answer, with one fsync each (a rollback journal
needs several, and without EXTRA can take back the last commit after a power cut). Readers do not
wait for the writer. The log (`-wal`, `-shm`) lies beside the file until the last user closes it:
copy all of them, or none. The folder must be on a disk of this machine, not on a network share.
"""

import operator
import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from threading import RLock
from typing import Any, Final, Literal, Self

from fidal.site.ledger_file import LedgerError, connect, explained
from fidal.types import OUTLIER


@dataclass(frozen=True)
class Event:
    """One line of the history. Fields that its kind does not have are None."""

    number: int
    """1, 2, ... without gaps."""
    time: datetime
    """UTC."""
    kind: Literal["query", "ask", "answer", "undo"]
    round: int | None
    sample: str | None
    label: int | None
    by: str | None

    @property
    def key(self) -> tuple[str, int | None, str | None, int | None, str | None]:
        """What happened, without when: two runs with equal keys in equal order are the same."""
        return self.kind, self.round, self.sample, self.label, self.by


class Ledger:
    """Usable from several threads (one lock) and several processes (SQLite's own)."""

    def __init__(self, connection: sqlite3.Connection, path: Path, site: str) -> None:
        self.path: Final = path
        self.site: Final = site
        self._connection = connection
        self._lock = RLock()

    @classmethod
    def open(cls, path: Path, *, federation: str, site: str) -> Self:
        """The ledger at `path`, made if there is no file. A file that is anything else is refused
        with a `LedgerError` and stays as it is."""
        return cls(connect(path, federation, site), path, site)

    def ask(self, round: int, ids: Sequence[str]) -> tuple[str, ...]:
        """Put `ids`, best first, on the worklist of `round`, once and whole.

        Asked again for the same round, whatever the ids, it returns the stored worklist and
        changes nothing. A sample stands on one worklist at most: unanswered ones stay on the
        expert's desk, so `asked()` must not be among the candidates of the next query.
        """
        with self._transaction():
            stored = self.worklist(round)
            if stored is not None:
                return stored
            asked = self._asked()
            for sample in ids:
                if sample in asked:
                    raise self._error(
                        f"round {round} asks sample {sample!r} a second time (first in round "
                        f"{asked[sample]}); leave out of the candidates what `asked()` holds"
                    )
                asked[sample] = round
            self._append("query", round=round)
            for sample in ids:
                self._append("ask", round=round, sample=sample)
        return tuple(ids)

    def answer(self, sample: str, label: int, by: str = "oracle") -> None:
        """Record a class or OUTLIER for an asked sample; on the disk when this returns.

        If it is what the same person said last, nothing changes; else it is one more event, and
        the latest counts.
        """
        self.answer_all({sample: label}, by)

    def answer_all(self, labels: Mapping[str, int], by: str = "oracle") -> None:
        """All of `labels` or, if one is refused or the process dies, none: for a simulated oracle,
        which says the same again, and for a file of labels. What a person answers goes one by one.
        """
        with self._transaction():
            for sample, label in labels.items():
                self._answer(sample, operator.index(label), by)

    def undo(self, by: str) -> str | None:
        """Take back the latest answer of this person that still stands. Out: its sample, which is
        pending again; None if there is no such answer.
        """
        with self._transaction():
            latest = self._rows(
                "SELECT sample FROM event AS given WHERE kind = 'answer' AND by = ? AND NOT EXISTS "
                "(SELECT 1 FROM event AS later WHERE later.kind IN ('answer', 'undo') "
                "AND later.sample = given.sample AND later.number > given.number) "
                "ORDER BY number DESC LIMIT 1",
                by,
            )
            for (sample,) in latest:
                self._append("undo", sample=sample, by=by)
        return str(latest[0][0]) if latest else None

    def worklist(self, round: int) -> tuple[str, ...] | None:
        """What `round` asked, best first; None if it has not asked yet."""
        if round not in self.rounds():
            return None
        rows = self._rows(
            "SELECT sample FROM event WHERE kind = 'ask' AND round = ? ORDER BY number", round
        )
        return tuple(sample for (sample,) in rows)

    def pending(self, round: int) -> tuple[str, ...]:
        """The unanswered part of the worklist of `round`, best first."""
        worklist = self.worklist(round)
        if worklist is None:
            raise self._error(f"round {round} has not asked yet, so nothing can be pending")
        answered = self.answers()
        return tuple(sample for sample in worklist if sample not in answered)

    def rounds(self) -> tuple[int, ...]:
        """The rounds that have asked, in that order."""
        rows = self._rows("SELECT round FROM event WHERE kind = 'query' ORDER BY number")
        return tuple(round for (round,) in rows)

    def asked(self) -> tuple[str, ...]:
        """All samples that ever were on a worklist, in the order asked."""
        return tuple(self._asked())

    def answers(self, until: int | None = None) -> dict[str, int]:
        """The latest answer per sample, in the order first answered.

        With `until`, as it stood right after that event: a round notes `position()` when it
        starts, and trains on the same labels if it has to be repeated.
        """
        rows = self._rows(
            "SELECT sample, label FROM event WHERE kind IN ('answer', 'undo') AND number <= ? "
            "ORDER BY number",
            self.position() if until is None else until,
        )
        return {sample: label for sample, label in dict(rows).items() if label is not None}

    def position(self) -> int:
        """The number of the latest event, 0 if there is none."""
        ((number,),) = self._rows("SELECT coalesce(max(number), 0) FROM event")
        return int(number)

    def events(self) -> Iterator[Event]:
        """The whole history, oldest first."""
        for number, time, *rest in self._rows("SELECT * FROM event ORDER BY number"):
            yield Event(number, datetime.fromisoformat(time), *rest)

    def close(self) -> None:
        """Fold the log into the file, if nobody else has it open."""
        with self._lock:
            self._connection.close()

    def _answer(self, sample: str, label: int, by: str) -> None:
        if label < OUTLIER:
            raise self._error(
                f"label {label} of sample {sample!r} is neither a class 0, 1, ... nor OUTLIER "
                f"({OUTLIER})"
            )
        if not self._rows("SELECT 1 FROM event WHERE kind = 'ask' AND sample = ?", sample):
            raise self._error(f"sample {sample!r} was never asked, so it takes no answer")
        latest = self._rows(
            "SELECT label, by FROM event WHERE kind IN ('answer', 'undo') AND sample = ? "
            "ORDER BY number DESC LIMIT 1",
            sample,
        )
        if latest != [(label, by)]:
            self._append("answer", sample=sample, label=label, by=by)

    def _asked(self) -> dict[str, int]:
        rows = self._rows("SELECT sample, round FROM event WHERE kind = 'ask' ORDER BY number")
        return dict(rows)

    def _append(
        self,
        kind: str,
        round: int | None = None,
        sample: str | None = None,
        label: int | None = None,
        by: str | None = None,
    ) -> None:
        now = datetime.now(UTC).isoformat(timespec="milliseconds")
        self._rows(
            "INSERT INTO event (time, kind, round, sample, label, by) VALUES (?, ?, ?, ?, ?, ?)",
            *(now, kind, round, sample, label, by),
        )

    def _rows(self, sql: str, *values: str | int | None) -> list[tuple[Any, ...]]:
        with self._lock, explained(self.path, self.site):
            return self._connection.execute(sql, values).fetchall()

    @contextmanager
    def _transaction(self) -> Iterator[None]:
        """All of the block or nothing of it. IMMEDIATE: what is read in it stays true."""
        with self._lock, explained(self.path, self.site):
            self._connection.execute("BEGIN IMMEDIATE")
            try:
                yield
                self._connection.execute("COMMIT")
            except BaseException:
                # A full disk makes SQLite roll back by itself.
                if self._connection.in_transaction:
                    self._connection.execute("ROLLBACK")
                raise

    def _error(self, what: str) -> LedgerError:
        return LedgerError(f"site '{self.site}': {what} [ledger {self.path}]")
