import math
from pathlib import Path

import numpy as np
import pytest

from fidal.report.comparing import best_round
from fidal.report.frame import Study
from fidal.report.reading import read_folders
from fidal.report.spread import Spread
from fidal.report.tables.headline import across, headline
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


def test_side_by_side_averages_over_all_studies_or_none(tmp_path: Path) -> None:
    for budget in (50, 100):
        for seed in (0, 1):
            make_run(tmp_path, "fidal", seed, budget=budget)
    make_run(tmp_path, "random", budget=50)
    studies = read_folders([tmp_path]).studies
    table = across(studies, "final")
    random, fidal = table.lines
    means = [study.spread("fidal", "bma_pooled", 5).mean for study in studies]
    assert column(table, "Average: score (%)")[1] == pytest.approx(sum(means) / 2)
    assert column(table, "budget=100: score (%)")[1] == studies[1].spread("fidal", "bma_pooled", 5)
    assert math.isnan(float(str(column(table, "Average: score (%)")[0])))
    assert "–" in [cell.text for cell in table.cells()[0]]
    assert "[1/2]" in table.cells()[0][1].text
    assert (random.strategy, fidal.strategy) == ("random", "fidal")
