import csv
import io

import numpy as np

from fidal.report.spread import Spread
from fidal.report.tables.table import Column, Line, Table

NAN = float("nan")


def spread(*values: float) -> Spread:
    return Spread.over(np.array(values))


TABLE = Table(
    name="small",
    title="Small & simple",
    caption="100 % made up.",
    columns=(
        Column("Method"),
        Column("Score (%)", "high", 100),
        Column("OOD", "low", digits=0),
        Column("Gap"),
    ),
    lines=(
        Line(("a_1", spread(0.5, 0.7), spread(30.0, 30.0), -1.25), "a"),
        Line(("b|c", spread(0.6004, 0.6004), spread(10.0, NAN), 0.0), "b"),
        Line(("c", spread(0.4, 0.4), spread(20.0, 20.0), NAN), "c"),
    ),
)


def test_what_looks_alike_is_marked_alike() -> None:
    marks = [[cell.mark for cell in row] for row in TABLE.cells()]
    assert [row[1] for row in marks] == ["best", "best", "second"]
    assert [row[2] for row in marks] == ["", "best", "second"]
    assert {row[0] for row in marks} | {row[3] for row in marks} == {""}


def test_a_single_number_is_not_the_best_of_anything() -> None:
    one = Table("x", "x", "x", (Column("n", "high"),), (Line((1.0,)), Line((NAN,))))
    assert [cell.mark for (cell,) in one.cells()] == ["", ""]


def test_markdown() -> None:
    assert TABLE.markdown() == (
        "**Small & simple.** 100 % made up. [2/3]: only 2 of 3 seeds have this number.\n\n"
        "| Method | Score (%) | OOD | Gap |\n"
        "| --- | ---: | ---: | ---: |\n"
        "| a_1 | **60.0 ± 14.1** | 30 ± 0 | −1.2 |\n"
        "| b\\|c | **60.0 ± 0.0** | **10 [1/2]** | 0.0 |\n"
        "| c | <u>40.0 ± 0.0</u> | <u>20 ± 0</u> | – |\n"
    )


def test_csv_holds_numbers_and_keeps_missing_seeds() -> None:
    rows = list(csv.DictReader(io.StringIO(TABLE.csv())))
    assert [float(row["Score (%)"]) for row in rows] == [60.0, 60.04, 40.0]
    assert float(rows[0]["Score (%): std"]) == float(f"{100 * np.std([0.5, 0.7], ddof=1):.6g}")
    assert [row["OOD: seeds"] for row in rows] == ["2", "1", "2"]
    assert rows[1]["OOD: std"] == "" and rows[2]["Gap"] == ""
    assert rows[0]["Gap"] == "-1.25"


def test_latex_escapes_and_marks() -> None:
    text = TABLE.latex()
    assert r"\caption{\textbf{Small \& simple.} 100 \% made up." in text
    assert r"a\_1 & \textbf{60.0 $\pm$ 14.1} & 30 $\pm$ 0 & $-$1.2 \\" in text
    assert r"\underline{40.0 $\pm$ 0.0}" in text
    assert text.count("{") == text.count("}")
    assert r"\begin{tabular}{lrrr}" in text
