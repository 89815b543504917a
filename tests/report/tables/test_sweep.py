from pathlib import Path

import numpy as np
import pytest

from fidal.report.frame import Study
from fidal.report.paper import At
from fidal.report.reading import read_folders
from fidal.report.spread import Spread
from fidal.report.tables.sweep import sweep
from fidal.report.tables.table import Table
from fidal.report.variations import variations
from tests.report.made import make_run

CROSS = [(50, 10), (150, 10), (500, 10), (500, 2)]


def swept(
    root: Path, cells: list[tuple[int, int]], benchmark: str = "phantom", at: At = "final"
) -> tuple[Table, tuple[Study, ...]]:
    for budget, rounds in cells:
        for strategy in ("random", "fidal"):
            source = {"name": benchmark}
            training = {"rounds": rounds, "epochs": 1}
            make_run(root, strategy, benchmark=source, budget=budget, training=training)
    studies = read_folders([root]).studies
    return sweep(variations(studies), at), studies


def test_two_lines_per_method_ranked_among_their_like(tmp_path: Path) -> None:
    table, _ = swept(tmp_path, CROSS)
    assert [(line.cells[0], line.cells[1], line.group) for line in table.lines] == [
        ("Random", "score", "score"),
        ("Random", "ID purity", "ID purity"),
        ("FIDAL", "score", "score"),
        ("FIDAL", "ID purity", "ID purity"),
    ]
    for row in table.cells()[2:]:  # FIDAL leads in both
        assert {cell.mark for cell in row[2:]} == {"best"}


def test_a_shared_cell_stands_twice_and_counts_once(tmp_path: Path) -> None:
    table, studies = swept(tmp_path, CROSS)
    names = [column.name for column in table.columns]
    assert names[2:] == [
        "budget=50",
        "budget=150",
        "budget=500",
        "training.rounds=2",
        "training.rounds=10",
        "Average",
    ]
    score = table.lines[2].cells
    assert score[names.index("budget=500")] == score[names.index("training.rounds=10")]
    expected = np.mean([study.values("fidal", "bma_pooled")[0, 5] for study in studies])
    average = score[-1]
    assert isinstance(average, Spread) and average.mean == pytest.approx(expected)
    assert "4 distinct settings" in table.caption
    assert "budget at training.rounds=10; training.rounds at budget=500" in table.caption


def test_columns_of_a_full_grid_say_where_the_rest_stands(tmp_path: Path) -> None:
    table, _ = swept(tmp_path, [(50, 2), (50, 10), (150, 2), (150, 10)])
    names = [column.name for column in table.columns]
    assert "budget=50 (training.rounds=2)" in names and len(set(names)) == len(names)


def test_the_paper_s_own_cells_stand_below(tmp_path: Path) -> None:
    seven = [(B, 100) for B in (50, 150, 300, 500)] + [(500, E) for E in (2, 10, 50)]
    table, _ = swept(tmp_path, seven, "fedisic", "best")
    names = [line.cells[0] for line in table.lines]
    assert names[4:] == ["FIDAL", "FIDAL", "FIDAL, in the paper", "FIDAL, in the paper"]
    score, purity = ([cell.text for cell in row] for row in table.cells()[-2:])
    assert score[2] == "50.7 ± 1.6 (R5)" and purity[2] == "93.2"
    average = table.lines[-2].cells[-1]
    assert isinstance(average, Spread) and average.mean == pytest.approx(0.6505)
    assert purity[-1] == "86.2"


def test_a_part_of_its_settings_has_no_average_in_the_paper(tmp_path: Path) -> None:
    table, _ = swept(tmp_path, [(50, 50), (500, 50)], "fedembed", "final")
    score = [cell.text for cell in table.cells()[-2]]
    assert score == ["FIDAL, in the paper", "score", "60.9 ± 1.6 (R10)", "68.2 ± 0.3 (R10)", "–"]
