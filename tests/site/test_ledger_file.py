import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from fidal.site import ledger_file
from fidal.site.ledger import Ledger
from fidal.site.ledger_file import LedgerError, connect


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """A ledger with something in it, closed."""
    path = tmp_path / "ledger.sqlite"
    ledger = Ledger.open(path, federation="isic", site="vienna")
    ledger.ask(1, [f"img-{i}" for i in range(300)])
    ledger.answer_all({f"img-{i}": i % 4 for i in range(200)})
    ledger.close()
    return path


def refused(path: Path, match: str, federation: str = "isic", site: str = "vienna") -> None:
    before = path.read_bytes()
    with pytest.raises(LedgerError, match=match):
        connect(path, federation, site)
    assert path.read_bytes() == before
    assert [p.name for p in path.parent.iterdir()] == [path.name]


def raw(path: Path, sql: str) -> None:
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.execute(sql)


def test_it_is_one_file_at_rest(path: Path) -> None:
    assert [p.name for p in path.parent.iterdir()] == [path.name]


def test_a_commit_waits_for_the_disk(path: Path) -> None:
    with closing(connect(path, "isic", "vienna")) as connection:
        assert connection.execute("PRAGMA journal_mode").fetchone() == ("wal",)
        assert connection.execute("PRAGMA synchronous").fetchone() == (2,)


@pytest.mark.parametrize(
    "sql",
    [
        "UPDATE event SET label = 1",
        "DELETE FROM event WHERE number = 5",
        "INSERT OR REPLACE INTO event (number, time, kind, round) VALUES (1, '', 'query', 9)",
        "INSERT OR REPLACE INTO event (time, kind, round) VALUES ('', 'query', 1)",
        "INSERT OR REPLACE INTO event (time, kind, round, sample) VALUES ('', 'ask', 2, 'img-3')",
    ],
)
def test_nobody_changes_the_past(path: Path, sql: str) -> None:
    ledger = Ledger.open(path, federation="isic", site="vienna")
    before = list(ledger.events())
    with pytest.raises(sqlite3.IntegrityError, match=r"events are never"):
        raw(path, sql)
    assert list(ledger.events()) == before
    ledger.close()


@pytest.mark.parametrize(
    "values",
    [
        "('', 'gossip', 1, NULL, NULL, NULL)",
        "('', 'query', NULL, NULL, NULL, NULL)",
        "('', 'ask', 2, NULL, NULL, NULL)",
        "('', 'answer', NULL, 'img-1', NULL, 'eva')",
        "('', 'answer', NULL, 'img-1', -2, 'eva')",
        "('', 'answer', 1, 'img-1', 2, 'eva')",
        "('', 'undo', NULL, 'img-1', 2, 'eva')",
        "('', 'undo', NULL, 'img-1', NULL, NULL)",
    ],
)
def test_no_event_is_half_an_event(path: Path, values: str) -> None:
    with pytest.raises(sqlite3.IntegrityError, match=r"CHECK"):
        raw(path, f"INSERT INTO event (time, kind, round, sample, label, by) VALUES {values}")


def test_another_site_or_federation_is_refused(path: Path) -> None:
    refused(path, "site 'graz'.*belongs to.*'vienna'.*another path", site="graz")
    refused(path, "federation 'embed'.*belongs to.*'isic'", federation="embed")


def test_another_schema_is_refused(path: Path) -> None:
    raw(path, "PRAGMA user_version = 7")
    refused(path, "'vienna'.*schema 7, this fidal reads 2; open it with the version")


def test_another_database_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "contacts.sqlite"
    raw(path, "CREATE TABLE event (number INTEGER)")
    refused(path, "'vienna'.*no ledger; give the site another path")


@pytest.mark.parametrize("content", [b"", b"image,label\na,1\n" * 500, bytes(8192)])
def test_what_is_no_database_is_refused(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "ledger.sqlite"
    path.write_bytes(content)
    refused(path, "'vienna'.*no ledger; give the site another path")


@pytest.mark.parametrize("share", [0.01, 0.3, 0.6, 0.99])
def test_a_truncated_ledger_is_refused(path: Path, share: float) -> None:
    content = path.read_bytes()
    path.write_bytes(content[: int(len(content) * share)])
    refused(path, "'vienna'.*(put back|put its ledger back)")


def test_a_damaged_page_is_refused(path: Path) -> None:
    content = bytearray(path.read_bytes())
    content[3 * 4096 : 3 * 4096 + 300] = b"\xff" * 300
    path.write_bytes(content)
    refused(path, "'vienna'.*it is damaged.*put back a copy")


def test_a_folder_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(LedgerError, match=r"'vienna'.*absent/ledger.sqlite.*its folder has to"):
        connect(tmp_path / "absent" / "ledger.sqlite", "isic", "vienna")
    (tmp_path / "ledger.sqlite").mkdir()
    with pytest.raises(LedgerError, match=r"'vienna'"):
        connect(tmp_path / "ledger.sqlite", "isic", "vienna")


def test_who_waits_too_long_for_another_writer_is_told(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ledger_file, "BUSY_SECONDS", 0.05)
    with closing(connect(path, "isic", "vienna")) as other:
        other.execute("BEGIN IMMEDIATE")
        ledger = Ledger.open(path, federation="isic", site="vienna")
        with pytest.raises(LedgerError, match=r"'vienna'.*locked; another process is writing"):
            ledger.answer("img-250", 1)
        assert len(ledger.answers()) == 200, "reading does not wait for a writer"
        other.execute("ROLLBACK")
        ledger.answer("img-250", 1)
        ledger.close()


def test_a_place_without_a_log_is_refused() -> None:
    with (
        closing(sqlite3.connect(":memory:")) as connection,
        pytest.raises(LedgerError, match=r"'vienna'.*put it on a disk of this machine"),
    ):
        ledger_file._make_durable(connection, Path("somewhere"), "vienna")


def test_an_older_birth_wins(tmp_path: Path) -> None:
    """Two processes that find no file both make one; the second must not replace the first."""
    path = tmp_path / "ledger.sqlite"
    ledger_file._create(path, "isic", "vienna")
    first = path.read_bytes()
    ledger_file._create(path, "isic", "graz")
    assert path.read_bytes() == first
    assert [p.name for p in tmp_path.iterdir()] == [path.name]
