from pathlib import Path

import numpy as np
import pytest

from fidal.report.comparing import best_round
from fidal.report.frame import Study
from fidal.report.reading import read_folders
from fidal.report.spread import Spread
from fidal.report.tables.headline import headline
from tests.report.made import CLASSES, make_run


def column(table_of: object, name: str) -> list[object]:
    columns = [c.name for c in table_of.columns]  # type: ignore[attr-defined]
    return [line.cells[columns.index(name)] for line in table_of.lines]  # type: ignore[attr-defined]


def test_final_round_is_mean_and_deviation_over_seeds(study: Study) -> None:
    table = headline(study, "final")
    for method, cell in zip(study.main, column(table, "BMA, pooled (%)"), strict=True):
        values = study.values(method, "bma_pooled")[:, 5]
        assert isinstance(cell, Spread)
        assert cell.mean == pytest.approx(np.mean(values))
        assert cell.std == pytest.approx(np.std(values, ddof=1))
    assert column(table, "Round") == ["R5"] * 4


def test_best_round_takes_every_number_from_the_same_round(study: Study) -> None:
    table = headline(study, "best")
    purities = column(table, "ID purity (%)")
    for method, said, purity in zip(study.main, column(table, "Round"), purities, strict=True):
        round = best_round(study, method)
        assert said == f"R{round}"
        assert purity == study.spread(method, "purity", round)


def test_pooled_and_mean_of_sites_are_both_there_and_differ(study: Study) -> None:
    table = headline(study, "final")
    pooled, mean = column(table, "BMA, pooled (%)"), column(table, "BMA, mean of sites (%)")
    assert pooled != mean


def test_two_classes_are_ranked_by_accuracy_first(tmp_path: Path) -> None:
    make_run(tmp_path, "fidal", classes=CLASSES[:2])
    (study,) = read_folders([tmp_path]).studies
    assert headline(study, "final").columns[2].name == "Accuracy, pooled (%)"


def test_the_paper_s_numbers_stand_beside_ours_with_their_setting(tmp_path: Path) -> None:
    for strategy in ("fidal", "random", "fidal-paper", "coreset"):
        make_run(tmp_path, strategy, benchmark={"name": "fedisic"})
    (study,) = read_folders([tmp_path]).studies
    table = headline(study, "best")
    theirs = dict(zip(study.main, column(table, "In the paper: score (%)"), strict=True))
    assert theirs["random"].text(2, 100) == "65.83 ± 2.66 (R5)"  # type: ignore[attr-defined]
    assert theirs["fidal"] == theirs["fidal-paper"]
    assert theirs["coreset"] == "–"
    pure = dict(zip(study.main, column(table, "In the paper: ID purity (%)"), strict=True))
    assert pure["fidal"] == pytest.approx(0.819)
    assert "Table 1, B = 500 and E = 100 local epochs" in table.caption
    assert "this study: B = 50, E = 10" in table.caption
    assert "71.14 ± 0.54 (R5)" in [cell.text for row in table.cells() for cell in row]


def test_another_benchmark_has_no_numbers_in_the_paper(study: Study) -> None:
    table = headline(study, "best")
    assert not any("paper" in name.name for name in table.columns)
    assert "In the paper" not in table.caption
