"""Tables on the terminal."""

from collections.abc import Iterable, Sequence

from rich.console import Console
from rich.table import Table


def print_table(console: Console, header: Sequence[str], rows: Iterable[Sequence[str]]) -> None:
    """A table on a terminal; elsewhere one line per row, whole cells parted by tabs."""
    if not console.is_terminal:
        for row in (header, *rows):
            print("\t".join(row), file=console.file)  # rich would turn tabs into spaces
        return
    table = Table(*header, box=None, pad_edge=False)
    for row in rows:
        table.add_row(*(cell.replace("[", r"\[") for cell in row))
    console.print(table)
