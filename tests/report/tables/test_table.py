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
