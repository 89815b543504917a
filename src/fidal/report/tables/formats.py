"""A table as CSV, Markdown and LaTeX."""

import csv
import io
import math
from collections.abc import Iterable

from fidal.report.spread import Spread
from fidal.report.tables.table import Cell, Table, Value


def as_csv(table: Table) -> str:
    """Numbers at full precision; a spread takes further columns: std, seeds and, chosen, round."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    values = list(zip(*(line.cells for line in table.lines), strict=True))
    shapes = [_further(column) for column in values] or [()] * len(table.columns)
    writer.writerow(
        name
        for column, shape in zip(table.columns, shapes, strict=True)
        for name in (column.name, *(f"{column.name}: {part}" for part in shape))
    )
    for line in table.lines:
        writer.writerow(
            part
            for value, column, shape in zip(line.cells, table.columns, shapes, strict=True)
            for part in (_first(value, column.scale), *_rest(value, column.scale, shape))
        )
    return out.getvalue()


def as_markdown(table: Table) -> str:
    """Best in bold, second underlined."""
    cells = table.cells()
    lines = [[_in_markdown(cell) for cell in row] for row in cells]
    header = [column.name for column in table.columns]
    numeric = [any(row[c].numeric for row in cells) for c in range(len(header))]
    rule = ["---:" if number else "---" for number in numeric]
    body = "\n".join(f"| {' | '.join(row)} |" for row in [header, rule, *lines])
    return f"**{table.title}.** {table.note}\n\n{body}\n"


def as_latex(table: Table) -> str:
    """For a document with booktabs and graphicx; a table wider than the line is shrunk."""
    cells = table.cells()
    head = " & ".join(_escaped(column.name) for column in table.columns)
    body = "\n".join(" & ".join(_in_latex(cell) for cell in row) + r" \\" for row in cells)
    numeric = [all(row[c].numeric for row in cells) for c in range(len(table.columns))]
    places = "".join("r" if number else "l" for number in numeric)
    return (
        "\\begin{table}\n\\centering\n"
        f"\\caption{{\\textbf{{{_escaped(table.title)}.}} {_escaped(table.note)}}}\n"
        f"\\label{{tab:{table.name}}}\n"
        "\\resizebox{\\ifdim\\width>\\linewidth\\linewidth\\else\\width\\fi}{!}{%\n"
        f"\\begin{{tabular}}{{{places}}}\n\\toprule\n{head} \\\\\n\\midrule\n"
        f"{body}\n\\bottomrule\n\\end{{tabular}}}}\n\\end{{table}}\n"
    )


def _further(values: Iterable[Value]) -> tuple[str, ...]:
    """Names of the further columns that a column of the table needs in a CSV."""
    spreads = [value for value in values if isinstance(value, Spread)]
    if not spreads:
        return ()
    chosen = any(spread.round is not None for spread in spreads)
    return ("std", "seeds", "round") if chosen else ("std", "seeds")


def _first(value: Value, scale: float) -> str:
    if isinstance(value, str):
        return value
    return _number((value.mean if isinstance(value, Spread) else value) * scale)


def _rest(value: Value, scale: float, shape: tuple[str, ...]) -> Iterable[str | int]:
    if not isinstance(value, Spread):
        return [""] * len(shape)
    parts: list[str | int] = [_number(value.std * scale), value.seeds]
    return [*parts, "" if value.round is None else value.round][: len(shape)]


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
    "<": r"$<$",
    ">": r"$>$",
}


def _escaped(text: str) -> str:
    return "".join(_LATEX.get(sign, sign) for sign in text)
