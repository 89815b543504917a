"""One table, four ways to write it: CSV, Markdown, LaTeX, and cells for the page."""

import csv
import io
import math
from collections.abc import Iterable, Sequence
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

    def csv(self) -> str:
        """Numbers at full precision; a spread takes three columns: mean, std and seeds."""
        out = io.StringIO()
        writer = csv.writer(out, lineterminator="\n")
        spreads = [
            any(isinstance(line.cells[c], Spread) for line in self.lines)
            for c in range(len(self.columns))
        ]
        writer.writerow(
            name
            for column, spread in zip(self.columns, spreads, strict=True)
            for name in _names(column.name, spread)
        )
        for line in self.lines:
            writer.writerow(
                part
                for value, column, spread in zip(line.cells, self.columns, spreads, strict=True)
                for part in _parts(value, column.scale, spread)
            )
        return out.getvalue()

    def markdown(self) -> str:
        """Best in bold, second underlined."""
        lines = [[_in_markdown(cell) for cell in row] for row in self.cells()]
        header = [column.name for column in self.columns]
        numeric = [any(row[c].numeric for row in self.cells()) for c in range(len(header))]
        rule = ["---:" if number else "---" for number in numeric]
        body = "\n".join(f"| {' | '.join(row)} |" for row in [header, rule, *lines])
        return f"**{self.title}.** {self.note}\n\n{body}\n"

    def latex(self) -> str:
        """For a document with the package booktabs."""
        head = " & ".join(_escaped(column.name) for column in self.columns)
        body = "\n".join(
            " & ".join(_in_latex(cell) for cell in row) + r" \\" for row in self.cells()
        )
        numeric = [all(row[c].numeric for row in self.cells()) for c in range(len(self.columns))]
        places = "".join("r" if number else "l" for number in numeric)
        return (
            "\\begin{table}\n\\centering\n"
            f"\\caption{{\\textbf{{{_escaped(self.title)}.}} {_escaped(self.note)}}}\n"
            f"\\label{{tab:{self.name}}}\n"
            f"\\begin{{tabular}}{{{places}}}\n\\toprule\n{head} \\\\\n\\midrule\n"
            f"{body}\n\\bottomrule\n\\end{{tabular}}\n\\end{{table}}\n"
        )

    def _marks(self, index: int) -> list[Mark]:
        column = self.columns[index]
        numbers = [_shown(line.cells[index], column) for line in self.lines]
        there = sorted({x for x in numbers if math.isfinite(x)}, reverse=column.better == "high")
        if not column.better or len(there) < 2:
            return [""] * len(numbers)
        return ["best" if x == there[0] else "second" if x == there[1] else "" for x in numbers]

    @property
    def note(self) -> str:
        """The caption, and what `[2/3]` behind a number means where one is."""
        values = [value for line in self.lines for value in line.cells]
        if any(isinstance(value, Spread) and 0 < value.seeds < value.of for value in values):
            return f"{self.caption} [2/3]: only 2 of 3 seeds have this number."
        return self.caption


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


def _names(name: str, spread: bool) -> Sequence[str]:
    return (name, f"{name}: std", f"{name}: seeds") if spread else (name,)


def _parts(value: Value, scale: float, spread: bool) -> Iterable[str | int]:
    if isinstance(value, Spread):
        return _number(value.mean * scale), _number(value.std * scale), value.seeds
    only = value if isinstance(value, str) else _number(value * scale)
    return (only, "", "") if spread else (only,)


def _number(value: float) -> str:
    return f"{value:.6g}" if math.isfinite(value) else ""


def _in_markdown(cell: Cell) -> str:
    text = cell.text.replace("|", "\\|")
    return {"best": f"**{text}**", "second": f"<u>{text}</u>", "": text}[cell.mark]


def _in_latex(cell: Cell) -> str:
    text = _escaped(cell.text)
    return {"best": rf"\textbf{{{text}}}", "second": rf"\underline{{{text}}}", "": text}[cell.mark]


_LATEX = {
    "\\": r"\textbackslash{}",
    **{sign: f"\\{sign}" for sign in "&%$#_{}"},
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "±": r"$\pm$",
    "–": "--",
    "×": r"$\times$",
    "−": "$-$",
    "≤": r"$\leq$",
    "≥": r"$\geq$",
}


def _escaped(text: str) -> str:
    return "".join(_LATEX.get(sign, sign) for sign in text)
