"""Rows: one JSON object per line, appended and never changed.

A row is there once its line ends: what follows the last newline was torn by a kill and does not
count. NaN and infinities are written as null and come back as None ("no number here"); all other
numbers come back exactly. Every line carries the version of the schema; it is not part of the row.
"""

import json
import os
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Final

from pydantic import JsonValue
from pydantic_core import to_json

from fidal.storage import StateError, sync_folder, write_all, writing

Row = Mapping[str, JsonValue]

SCHEMA: Final = 1


def append(path: Path, row: Row) -> None:
    """One more line, on the disk when this returns. A torn line before it is removed.

    One process at a time may write to a file of rows.
    """
    _append(path, [row])


def append_once(path: Path, rows: Iterable[Row], key: Sequence[str]) -> None:
    """Those of `rows` whose values under `key` no row of the file has; the first one counts."""
    known = {_key(row, key) for row in read(path)} if path.exists() else set()
    fresh: list[Row] = []
    for row in rows:
        if _key(row, key) not in known:
            known.add(_key(row, key))
            fresh.append(row)
    _append(path, fresh)


def read(path: Path) -> list[Row]:
    """All rows, oldest first."""
    try:
        content = path.read_bytes()
    except OSError as error:
        raise StateError(f"{path} can't be read: {error.strerror}") from error
    *lines, _torn = content.split(b"\n")
    return [_row(line, path, number) for number, line in enumerate(lines, start=1)]


def _append(path: Path, rows: Sequence[Row]) -> None:
    """In one write, so that a kill leaves whole lines and at most one torn one."""
    content = b"".join(_line(row) for row in rows)
    with writing(path):
        new = not path.exists()
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o666)
        try:
            end = _end_of_last_line(descriptor)
            os.ftruncate(descriptor, end)
            try:
                write_all(descriptor, content)
            except OSError:
                os.ftruncate(descriptor, end)
                raise
        finally:
            os.close(descriptor)
        if new:
            sync_folder(path.parent)


def _end_of_last_line(descriptor: int) -> int:
    """Where the next line begins: normally the end of the file."""
    size = os.fstat(descriptor).st_size
    if size == 0 or os.pread(descriptor, 1, size - 1) == b"\n":
        return size
    return os.pread(descriptor, size, 0).rfind(b"\n") + 1


def _line(row: Row) -> bytes:
    if "schema" in row:
        raise ValueError("the field 'schema' of a row is written by `append`; leave it out")
    return to_json({"schema": SCHEMA, **row}, inf_nan_mode="null") + b"\n"


def _row(line: bytes, path: Path, number: int) -> Row:
    try:
        row: dict[str, JsonValue] = json.loads(line)
        schema = row.pop("schema")
    except (ValueError, KeyError, AttributeError, TypeError) as error:
        raise StateError(
            f"{path}, line {number}: no row of fidal ({line[:40]!r}); restore the line, or remove "
            "it and resume the run"
        ) from error
    if schema != SCHEMA:
        raise StateError(
            f"{path}, line {number}: schema {schema}, this fidal reads {SCHEMA}; "
            "use the version that wrote it"
        )
    return row


def _key(row: Row, key: Sequence[str]) -> tuple[JsonValue, ...]:
    missing = [field for field in key if field not in row]
    if missing:
        raise ValueError(f"row without {missing}, which make up its key {tuple(key)}")
    return tuple(row[field] for field in key)
