"""How EMBED's tables write numbers and empty cells."""

from collections.abc import Sequence
from typing import Final

from fidal.data.preparing.originals import Originals
from fidal.data.table import Table, check_present, refuse

EMPTY: Final = frozenset({"", "nan", "-nan", "na", "<na>", "n/a", "#n/a", "#na", "null", "none"})
"""What the source's reader of tables takes for an empty cell, in small letters."""


def is_empty(cell: str) -> bool:
    """Whether a cell says nothing."""
    return cell.lower() in EMPTY


def whole(cell: str) -> str:
    """A whole number as tables write it: 2 or 2.0."""
    return cell.removesuffix(".0")


def read_numbered(originals: Originals, names: Sequence[str], columns: Sequence[str]) -> Table:
    """These columns of a table whose patients (`empi_anon`) and exams (`acc_anon`) are numbers;
    `names`: the files that have them, the preferred one first."""
    there = next((name for name in names if originals.find(name)), names[0])
    table = originals.table(there, columns, "EMBED, in its folder 'tables'")
    check_present(table, columns)
    for name in ("empi_anon", "acc_anon"):
        cells = table.columns[name]
        cells[:] = map(whole, cells)
        refuse(table, name, [not cell.isdecimal() for cell in cells], "is no number")
    return table
