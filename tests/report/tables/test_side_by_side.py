import math
from pathlib import Path

import numpy as np
import pytest

from fidal.report.comparing import best_round
from fidal.report.reading import read_folders
from fidal.report.spread import Spread
from fidal.report.tables.side_by_side import side_by_side
from fidal.report.tables.table import Table
from tests.report.made import CLASSES, make_run


def spread(table: Table, method: str, name: str) -> Spread:
    place = [found.name for found in table.columns].index(name)
    (cell,) = [line.cells[place] for line in table.lines if line.cells[0] == method]
    assert isinstance(cell, Spread)
    return cell


def test_every_benchmark_has_its_columns_and_the_average_is_over_all(tmp_path: Path) -> None:
    for seed in range(2):
        for name in ("one", "two"):
            make_run(tmp_path, "fidal", seed, benchmark={"name": name})
    make_run(tmp_path, "random", benchmark={"name": "one"})
    studies = read_folders([tmp_path]).studies
    table = side_by_side(studies, "final")
    assert [found.name for found in table.columns][:3] == [
        "Method",
        "one: score (%)",
        "one: ID purity (%)",
    ]
    average = spread(table, "FIDAL", "Average: score (%)")
    each = np.array([study.values("fidal", "bma_pooled")[:, 5] for study in studies])
    assert average.mean == pytest.approx(each.mean())
    assert average.std == pytest.approx(each.mean(0).std(ddof=1))
    assert math.isnan(spread(table, "Random", "Average: score (%)").mean)
    cells = {row[0].text: [cell.text for cell in row[1:]] for row in table.cells()}
    assert cells["Random"][2:] == ["–", "–", "–", "–"]
    assert "[1/2]" in cells["Random"][0]


def test_a_missing_seed_is_missing_in_the_average_too(tmp_path: Path) -> None:
    for seed in range(3):
        make_run(tmp_path, "fidal", seed, benchmark={"name": "one"})
    for seed in range(2):
        make_run(tmp_path, "fidal", seed, benchmark={"name": "two"})
    table = side_by_side(read_folders([tmp_path]).studies, "final")
    assert "[2/3]" in table.cells()[0][-1].text and "[2/3]" in table.note


def test_the_best_round_stands_behind_its_score(tmp_path: Path) -> None:
    for name in ("one", "two"):
        make_run(tmp_path, "fidal", benchmark={"name": name})
    studies = read_folders([tmp_path]).studies
    score = side_by_side(studies, "best").cells()[0][1].text
    assert score.endswith(f"(R{best_round(studies[0], 'fidal')})")
    assert "(R" not in side_by_side(studies, "final").cells()[0][1].text


def test_the_paper_s_table_1_stands_below_each_method_unranked(tmp_path: Path) -> None:
    for name in ("fedisic", "fedcamelyon", "fedembed"):
        classes = CLASSES[:2] if name == "fedcamelyon" else CLASSES
        for strategy in ("random", "fidal", "coreset"):
            make_run(tmp_path, strategy, benchmark={"name": name}, classes=classes)
    studies = read_folders([tmp_path]).studies  # in the order of their names
    table = side_by_side(studies, "best")
    assert [line.cells[0] for line in table.lines] == [
        "Random",
        "Random, in the paper",
        "Core-set",
        "FIDAL",
        "FIDAL, in the paper",
        "Fully supervised, in the paper",
    ]
    cells = {row[0].text: row for row in table.cells()}
    shown = [cell.text for cell in cells["FIDAL, in the paper"]]
    assert shown[1:3] == ["97.34 ± 0.12 (R10)", "83.8"]
    assert shown[-2:] == ["79.32", "86.0"]
    assert not any(cell.mark for name, row in cells.items() if "paper" in name for cell in row)


def test_at_the_final_round_the_paper_has_fewer_cells_and_no_average(tmp_path: Path) -> None:
    for name in ("fedisic", "fedcamelyon", "fedembed"):
        for strategy in ("pal", "fidal"):
            make_run(tmp_path, strategy, benchmark={"name": name})
    table = side_by_side(read_folders([tmp_path]).studies, "final")
    cells = {row[0].text: [cell.text for cell in row[1:]] for row in table.cells()}
    fidal, pal = (cells[f"{name}, in the paper"] for name in ("FIDAL", "PAL"))
    assert fidal[0::2] == ["97.34 ± 0.12 (R10)", "68.21 ± 0.31 (R10)", "71.14 ± 0.54 (R5)", "–"]
    assert pal[4:] == ["–", "–", "–", "–"]  # on FedISIC its best round was the fourth
    assert "Fully supervised, in the paper" not in cells


def test_of_two_of_its_benchmarks_the_paper_has_no_average(tmp_path: Path) -> None:
    for name in ("fedisic", "fedembed"):
        make_run(tmp_path, "fidal", benchmark={"name": name})
    table = side_by_side(read_folders([tmp_path]).studies, "best")
    theirs = next(line for line in table.lines if line.cells[0] == "FIDAL, in the paper")
    assert theirs.cells[-2:] == ("–", "–")
