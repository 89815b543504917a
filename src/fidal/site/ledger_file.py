"""The file behind a ledger: its schema, how it is opened, and what its errors mean to a person."""

import sqlite3
import uuid
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import Final

SCHEMA: Final = 2
APPLICATION: Final = 0xF1DA1
"""SQLite's application id, by which a ledger is told from any other SQLite file."""

BUSY_SECONDS: Final = 30.0
"""How long a writer waits for another process before it gives up."""

TABLES: Final = (
    f"PRAGMA application_id = {APPLICATION}",
    f"PRAGMA user_version = {SCHEMA}",
    "CREATE TABLE owner (federation TEXT NOT NULL, site TEXT NOT NULL)",
    """CREATE TABLE event (
        number INTEGER PRIMARY KEY,
        time TEXT NOT NULL,
        kind TEXT NOT NULL,
        round INTEGER CHECK (round >= 0),
        sample TEXT,
        label INTEGER CHECK (label >= -1),
        by TEXT,
        CHECK (kind IN ('query', 'ask', 'answer', 'undo')),
        CHECK ((round IS NOT NULL) = (kind IN ('query', 'ask'))),
        CHECK ((sample IS NOT NULL) = (kind IN ('ask', 'answer', 'undo'))),
        CHECK ((label IS NOT NULL) = (kind = 'answer')),
        CHECK ((by IS NOT NULL) = (kind IN ('answer', 'undo')))
    )""",
    "CREATE UNIQUE INDEX one_query_per_round ON event (round) WHERE kind = 'query'",
    "CREATE UNIQUE INDEX one_ask_per_sample ON event (sample) WHERE kind = 'ask'",
    "CREATE INDEX answers_of_sample ON event (sample) WHERE kind IN ('answer', 'undo')",
    """CREATE TRIGGER no_update BEFORE UPDATE ON event
        BEGIN SELECT RAISE(ABORT, 'events are never changed'); END""",
    """CREATE TRIGGER no_delete BEFORE DELETE ON event
        BEGIN SELECT RAISE(ABORT, 'events are never deleted'); END""",
    # INSERT OR REPLACE deletes without asking the trigger above.
    """CREATE TRIGGER no_replace BEFORE INSERT ON event WHEN
        EXISTS (SELECT 1 FROM event WHERE number = NEW.number)
        OR NEW.kind = 'query' AND EXISTS (
            SELECT 1 FROM event WHERE kind = 'query' AND round = NEW.round)
        OR NEW.kind = 'ask' AND EXISTS (
            SELECT 1 FROM event WHERE kind = 'ask' AND sample = NEW.sample)
        BEGIN SELECT RAISE(ABORT, 'events are never replaced'); END""",
)

WAYS_OUT: Final = {
    "SQLITE_FULL": "nothing of this change was written; free some space and repeat it",
    "SQLITE_BUSY": "another process is writing to it; stop that one, or try again later",
    "SQLITE_NOTADB": "it is no ledger; give the site another path, or put its ledger back",
    "SQLITE_CORRUPT": "it is damaged; move it and its -wal and -shm away, put back a copy",
    "SQLITE_CANTOPEN": "its folder has to exist, and both must be writable",
    "SQLITE_READONLY": "it and its folder have to be writable",
}


class LedgerError(Exception):
    """A ledger that can't be used, or a request that it must refuse. Nothing was changed."""


@contextmanager
def explained(path: Path, site: str) -> Iterator[None]:
    """Turns what SQLite refuses into a `LedgerError` with the site, the file and the way out."""
    try:
        yield
    except (sqlite3.Error, OSError) as error:
        code = getattr(error, "sqlite_errorname", "")
        ways = [way for name, way in WAYS_OUT.items() if code.startswith(name)]
        raise LedgerError(
            f"site '{site}': ledger {path}: {'; '.join([str(error), *ways])}"
        ) from error


def connect(path: Path, federation: str, site: str) -> sqlite3.Connection:
    """The connection to the ledger of this site in this federation, made if there is none."""
    with explained(path, site):
        if not path.exists():
            _create(path, federation, site)
        connection = sqlite3.connect(
            f"{path.absolute().as_uri()}?mode=rw",
            uri=True,
            timeout=BUSY_SECONDS,
            isolation_level=None,
            check_same_thread=False,
        )
        try:
            _check(connection, path, federation, site)
            _make_durable(connection, path, site)
        except BaseException:
            connection.close()
            raise
        return connection


def _create(path: Path, federation: str, site: str) -> None:
    """Made beside `path` and given its name when whole, unless another process was faster.

    So an empty file is never a young ledger: it is one that was lost, and refused.
    """
    beside = path.with_name(f".{path.name}.{uuid.uuid4().hex}.tmp")
    try:
        with closing(sqlite3.connect(beside, isolation_level=None)) as connection:
            connection.execute("BEGIN")
            for statement in TABLES:
                connection.execute(statement)
            connection.execute("INSERT INTO owner VALUES (?, ?)", (federation, site))
            connection.execute("COMMIT")
        with suppress(FileExistsError):
            path.hardlink_to(beside)
    finally:
        beside.unlink(missing_ok=True)


def _check(connection: sqlite3.Connection, path: Path, federation: str, site: str) -> None:
    """Reads only: a file that is not this ledger must stay as it is."""
    (application,) = connection.execute("PRAGMA application_id").fetchone()
    (schema,) = connection.execute("PRAGMA user_version").fetchone()
    if application != APPLICATION:
        raise LedgerError(f"site '{site}': ledger {path}: {WAYS_OUT['SQLITE_NOTADB']}")
    if schema != SCHEMA:
        raise LedgerError(
            f"site '{site}': ledger {path} has schema {schema}, this fidal reads {SCHEMA}; "
            "open it with the version that wrote it"
        )
    (found,) = connection.execute("PRAGMA integrity_check(1)").fetchone()
    if found != "ok":
        damage = " ".join(found.split())
        raise LedgerError(f"site '{site}': ledger {path}: {damage}; {WAYS_OUT['SQLITE_CORRUPT']}")
    owner = connection.execute("SELECT federation, site FROM owner").fetchall()
    if owner != [(federation, site)]:
        raise LedgerError(
            f"site '{site}' of federation '{federation}': ledger {path} belongs to (federation, "
            f"site) {owner}; give another path, or correct the names in the configuration"
        )


def _make_durable(connection: sqlite3.Connection, path: Path, site: str) -> None:
    """Why these two: see `ledger`."""
    (mode,) = connection.execute("PRAGMA journal_mode = WAL").fetchone()
    if mode != "wal":
        raise LedgerError(
            f"site '{site}': ledger {path}: no write-ahead log can be kept there; "
            "put it on a disk of this machine"
        )
    connection.execute("PRAGMA synchronous = FULL")
