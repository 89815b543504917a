import errno
import itertools
import json
import math
import os
import time
from multiprocessing.connection import Connection
from pathlib import Path
from typing import NoReturn

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import JsonValue

from fidal import rows
from fidal.rows import Row, append, append_once, read
from fidal.storage import StateError
from tests.killed import killed_after

KEY = ("run", "round", "site")
FIRST: Row = {"run": "r", "round": 1, "site": "vienna", "bma": 0.1 + 0.2}
SECOND: Row = {"run": "r", "round": 1, "site": "graz", "gate": {"recall": None, "flags": ["a\nb"]}}
THIRD: Row = {"run": "r", "round": 2, "site": "graz", "bma": 1}


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "rounds.jsonl"


def full(*args: object) -> NoReturn:
    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


# Round trip


def test_rows_come_back_in_order(path: Path) -> None:
    for row in (FIRST, SECOND, THIRD):
        append(path, row)
    assert read(path) == [FIRST, SECOND, THIRD]
    assert path.read_bytes().count(b"\n") == 3


def test_every_line_is_plain_json_with_its_schema(path: Path) -> None:
    append(path, FIRST)
    assert json.loads(path.read_text()) == {"schema": 1, **FIRST}


json_values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(st.characters(codec="utf-8")),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text("ab", max_size=2), inner),
    max_leaves=6,
)


@settings(max_examples=15, deadline=None)
@given(made=st.lists(st.dictionaries(st.text("xyz", max_size=3), json_values, max_size=4)))
def test_any_row_comes_back_exactly(
    tmp_path_factory: pytest.TempPathFactory, made: list[dict[str, JsonValue]]
) -> None:
    path = tmp_path_factory.mktemp("any") / "rounds.jsonl"
    numbered: list[Row] = [{"number": i, **row} for i, row in enumerate(made)]
    append_once(path, numbered, key=("number",))
    assert repr(read(path)) == repr(numbered)  # tells 1 from 1.0 and True, and 0.0 from -0.0


def test_what_is_no_finite_number_is_null(path: Path) -> None:
    values: list[JsonValue] = [math.nan, math.inf, -math.inf, float(np.float64("nan")), 0.5]
    append(path, {"loss": math.nan, "deep": {"list": values}})
    assert read(path) == [{"loss": None, "deep": {"list": [None, None, None, None, 0.5]}}]


def test_what_is_no_json_is_refused_before_anything_is_written(path: Path) -> None:
    append(path, FIRST)
    with pytest.raises(ValueError, match="float32"):
        append(path, {"bma": np.float32(0.1)})  # type: ignore[dict-item]
    with pytest.raises(ValueError, match=r"'schema'.*leave it out"):
        append(path, {"schema": 1})
    assert read(path) == [FIRST]


# Once


def test_what_is_there_is_not_written_again(path: Path) -> None:
    append_once(path, [FIRST, SECOND], key=KEY)
    content = path.read_bytes()
    append_once(path, [SECOND, FIRST], key=KEY)
    assert path.read_bytes() == content
    append_once(path, [SECOND, THIRD, FIRST], key=KEY)
    assert read(path) == [FIRST, SECOND, THIRD]


def test_the_first_of_equal_keys_counts(path: Path) -> None:
    other: Row = {**FIRST, "bma": 0.9}
    append_once(path, [FIRST, other, THIRD], key=KEY)
    append_once(path, [other], key=KEY)
    assert read(path) == [FIRST, THIRD]


def test_a_row_without_its_key_is_refused(path: Path) -> None:
    with pytest.raises(ValueError, match=r"without \['site'\]"):
        append_once(path, [FIRST, {"run": "r", "round": 1}], key=KEY)
    assert not path.exists()


# Torn


def test_a_line_torn_anywhere_is_dropped_and_mended(path: Path) -> None:
    for row in (FIRST, SECOND, THIRD):
        append(path, row)
    whole = path.read_bytes()
    start = whole[:-1].rfind(b"\n") + 1
    for size in range(start, len(whole)):
        path.write_bytes(whole[:size])
        assert read(path) == [FIRST, SECOND]
        append_once(path, [FIRST, SECOND, THIRD], key=KEY)
        assert path.read_bytes() == whole


def test_append_puts_no_row_behind_a_torn_one(path: Path) -> None:
    append(path, FIRST)
    for torn in (b'{"schema":1,"ru', b"\x00" * 5000, b'{"schema": 1}'):
        path.write_bytes(path.read_bytes() + torn)
        append(path, SECOND)
    assert read(path) == [FIRST, SECOND, SECOND, SECOND]


def test_a_file_that_holds_only_a_torn_line_starts_anew(path: Path) -> None:
    path.write_bytes(b'{"schema":1')
    assert read(path) == []
    append(path, FIRST)
    assert read(path) == [FIRST]


@pytest.mark.parametrize("bad", [b'{"schema":1,"ru', b"", b"[1]", b"3", b'{"run": 1}', b"\xff"])
@pytest.mark.parametrize("number", [1, 2, 3])
def test_a_bad_line_elsewhere_is_named(path: Path, bad: bytes, number: int) -> None:
    for row in (FIRST, SECOND):
        append(path, row)
    lines = path.read_bytes().splitlines()
    lines.insert(number - 1, bad)
    path.write_bytes(b"\n".join(lines) + b"\n")
    with pytest.raises(StateError, match=rf"rounds\.jsonl, line {number}: no row of fidal"):
        read(path)


def test_another_schema_is_named(path: Path) -> None:
    append(path, FIRST)
    path.write_bytes(path.read_bytes() + b'{"schema":2,"run":"r"}\n')
    with pytest.raises(StateError, match=r"rounds\.jsonl, line 2: schema 2, this fidal reads 1"):
        read(path)


def test_a_missing_file_is_named(path: Path) -> None:
    with pytest.raises(StateError, match=r"rounds\.jsonl can't be read: No such file"):
        read(path)
    with pytest.raises(StateError, match=r"absent/rounds\.jsonl can't be written"):
        append(path.parent / "absent" / path.name, FIRST)


# Full disk


def test_a_full_disk_leaves_the_rows_as_they_were(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    append(path, FIRST)
    before, write = path.read_bytes(), os.write
    room = iter([20])
    with monkeypatch.context() as patch:
        patch.setattr(os, "write", lambda d, c: write(d, c[: next(room, 0)]) or full())
        with pytest.raises(StateError, match=r"rounds\.jsonl.*No space left.*free some space"):
            append(path, SECOND)
    assert path.read_bytes() == before
    with monkeypatch.context() as patch:
        patch.setattr(os, "fsync", full)
        with pytest.raises(StateError, match="free some space"):
            append(path, SECOND)
    assert path.read_bytes() == before


# Kills


def append_on(path: Path, said: Connection) -> None:
    """A resumed run: it repeats its last round. Bytes trickle into the file, so that most kills
    fall into the middle of a line."""
    rows.write_all = trickle  # type: ignore[attr-defined]
    kept = len(read(path)) if path.exists() else 0
    for round in itertools.count(max(0, kept - 1) // 2):
        append_once(path, [{"run": "r", "round": round, "site": s} for s in "ab"], key=KEY)
        said.send(round)


def trickle(descriptor: int, content: bytes) -> None:
    for byte in content:
        os.write(descriptor, bytes([byte]))
        time.sleep(0.0002)


def test_a_kill_loses_no_row_and_writes_none_twice(path: Path) -> None:
    rng = np.random.default_rng(4)
    torn = 0
    for _ in range(8):
        last = killed_after(rng.uniform(0, 0.1), append_on, path)[-1]
        torn += not path.read_bytes().endswith(b"\n")
        kept = [(row["round"], row["site"]) for row in read(path)]
        assert kept == [(i // 2, "ab"[i % 2]) for i in range(len(kept))]
        assert len(kept) >= 2 * (last + 1)
    assert torn, "no kill fell into a line: this test has shown nothing"
