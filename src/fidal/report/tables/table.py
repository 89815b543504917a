"""A table: numbers with their columns, and which of them are the best and the second."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from fidal.report.spread import Spread

Value = str | int | float | Spread
Mark = Literal["best", "second", ""]


@dataclass(frozen=True)
class Column:
    """A header, and how its numbers are written and ranked."""

    name: str
    better: Literal["high", "low", ""] = ""
    """Which end of the column is marked best."""
    scale: float = 1.0
    """100 writes shares as percentages. CSV holds the scaled numbers too."""
    digits: int = 1


@dataclass(frozen=True)
class Line:
    """One row; `strategy` is whose it is, for the page's filter."""

    cells: tuple[Value, ...]
    strategy: str = ""
    group: str = ""
    """Best and second are marked among the lines of one group."""
    ranked: bool = True
    """False for what stands there for reference: it is never marked, nor in the way of others."""


@dataclass(frozen=True)
class Cell:
    """A cell as it is shown."""

    text: str
    mark: Mark = ""
    numeric: bool = False


@dataclass(frozen=True)
class Table:
    """`name` is its file's; `caption` says what a reader must know to read it rightly."""

    name: str
    title: str
    caption: str
    columns: tuple[Column, ...]
    lines: tuple[Line, ...]

    def cells(self) -> list[list[Cell]]:
        """All cells with their marks, line by line."""
        marks = [self._marks(index) for index in range(len(self.columns))]
        return [
            [
                Cell(_text(value, column), marks[c][row], not isinstance(value, str))
                for c, (value, column) in enumerate(zip(line.cells, self.columns, strict=True))
            ]
            for row, line in enumerate(self.lines)
        ]

    def _marks(self, index: int) -> list[Mark]:
        column = self.columns[index]
        numbers = [
            _shown(line.cells[index], column) if line.ranked else math.nan for line in self.lines
        ]
        firsts: dict[str, list[float]] = {}
        for group in {line.group for line in self.lines}:
            own = [n for n, line in zip(numbers, self.lines, strict=True) if line.group == group]
            there = {x for x in own if math.isfinite(x)}
            firsts[group] = sorted(there, reverse=column.better == "high")[:2]
        if not column.better:
            return [""] * len(numbers)
        return [
            _mark(number, firsts[line.group])
            for number, line in zip(numbers, self.lines, strict=True)
        ]

    @property
    def note(self) -> str:
        """The caption, and what `[2/3]` behind a number means where one is."""
        values = [value for line in self.lines for value in line.cells]
        if any(isinstance(value, Spread) and 0 < value.seeds < value.of for value in values):
            return f"{self.caption} [2/3]: only 2 of 3 seeds have this number."
        return self.caption


def _mark(number: float, firsts: Sequence[float]) -> Mark:
    """A number alone is not the best of anything."""
    if len(firsts) < 2:
        return ""
    return "best" if number == firsts[0] else "second" if number == firsts[1] else ""


def _shown(value: Value, column: Column) -> float:
    """The number as far as it is written: what looks alike is ranked alike."""
    if isinstance(value, str):
        return math.nan
    number = value.mean if isinstance(value, Spread) else value
    return round(number * column.scale, column.digits)


def _text(value: Value, column: Column) -> str:
    if isinstance(value, Spread):
        return value.text(column.digits, column.scale)
    if isinstance(value, str):
        return value
    digits = 0 if isinstance(value, int) else column.digits
    number = f"{value * column.scale:,.{digits}f}".replace("-", "−")
    return number if math.isfinite(value) else "–"
