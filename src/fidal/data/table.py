"""Tables from CSV and Parquet files, as text, and errors that name the row a person finds there."""

import csv
import importlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType

from fidal.parts import nearest


@dataclass(frozen=True)
class Table:
    """The cells of a file, as text."""

    path: Path
    columns: Mapping[str, list[str]]
    lines: tuple[int, ...]
    """For each row, the number under which a person finds it in the file."""


def read_table(path: Path, only: Sequence[str] | None = None) -> Table:
    """The cells of a .csv (comma, semicolon or tab) or .parquet file, without spaces around them.

    With `only` all of these columns must be there, and the others are not kept.
    """
    return _read_parquet(path, only) if is_parquet(path) else _read_csv(path, only)


def check_present(table: Table, names: Sequence[str]) -> None:
    """These columns are there, and at least one row."""
    _check_names(table.path, list(table.columns), names)
    if not table.lines:
        raise ValueError(f"{table.path}: there is no row below the header")


def refuse(
    table: Table, column: str, wrong: Sequence[bool], what: str, known: Sequence[str] = ()
) -> None:
    """An error if any row is wrong: names the first row, its value in `column`, and the count."""
    rows = [row for row, bad in enumerate(wrong) if bad]
    if not rows:
        return
    value = table.columns[column][rows[0]]
    hint = f"; {nearest(value, list(known))}" if known else ""
    more = f" (and {len(rows) - 1} more rows)" if len(rows) > 1 else ""
    raise ValueError(
        f"{table.path}, row {table.lines[rows[0]]}, column '{column}': '{value}' {what}{hint}{more}"
    )


def repeated(cells: Sequence[str]) -> list[bool]:
    """Which cells stand in an earlier row too."""
    first: dict[str, int] = {}
    return [first.setdefault(cell, row) != row for row, cell in enumerate(cells)]


def is_parquet(path: Path) -> bool:
    """Whether the file's name says Parquet."""
    return path.suffix.lower() in (".parquet", ".pq")


def find_pyarrow(path: Path) -> ModuleType:
    """The library that reads and writes Parquet; `path` is the file that needs it."""
    try:
        importlib.import_module("pyarrow.parquet")
        return importlib.import_module("pyarrow")
    except ImportError:
        raise ValueError(
            f"{path}: Parquet needs pyarrow, which is not installed; install 'fidal[parquet]' or "
            "save the file as CSV"
        ) from None


def _read_csv(path: Path, only: Sequence[str] | None) -> Table:
    try:
        with path.open(newline="", encoding="utf-8-sig") as file:  # Excel begins with a mark
            header = file.readline()
            file.seek(0)
            reader = csv.reader(file, delimiter=max(",;\t", key=header.count), strict=True)
            rows = filter(None, reader)
            names = [cell.strip() for cell in next(rows, [])]
            if not names:
                raise ValueError(f"{path}: the file is empty")
            kept = _check_names(path, names, only)
            columns: dict[str, list[str]] = {name: [] for name in kept}
            places = [(cells, names.index(name)) for name, cells in columns.items()]
            lines = []
            for row in rows:
                if len(row) != len(names):
                    told = f"{path}, row {reader.line_num}: {len(row)} cells"
                    raise ValueError(f"{told} for {len(names)} columns")
                lines.append(reader.line_num)
                for cells, place in places:
                    cells.append(row[place].strip())
    except UnicodeDecodeError as error:
        raise ValueError(f"{path}: byte {error.start} is not UTF-8; save it as UTF-8") from None
    except csv.Error as error:
        raise ValueError(f"{path}: not a readable CSV file: {error}") from None
    return Table(path, columns, tuple(lines))


def _read_parquet(path: Path, only: Sequence[str] | None) -> Table:
    pyarrow = find_pyarrow(path)
    try:
        kept = _check_names(path, pyarrow.parquet.read_schema(path).names, only)
        read = pyarrow.parquet.read_table(path, columns=kept)
    except pyarrow.ArrowException as error:
        raise ValueError(f"{path}: not a readable Parquet file: {error}") from None
    columns = {
        name: ["" if cell is None else str(cell).strip() for cell in read[name].to_pylist()]
        for name in kept
    }
    return Table(path, columns, tuple(range(1, read.num_rows + 1)))


def _check_names(path: Path, names: Sequence[str], only: Sequence[str] | None) -> list[str]:
    """The columns to keep; each is there, and once."""
    kept = list(dict.fromkeys(names if only is None else only))
    for name in kept:
        if name not in names:
            raise ValueError(f"{path}: column '{name}' is missing; {nearest(name, list(names))}")
        if names.count(name) > 1:
            raise ValueError(f"{path}: column '{name}' appears more than once")
    return kept
