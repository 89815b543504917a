from pathlib import Path
from typing import Any

import pytest

from fidal.report.frame import Study
from fidal.report.reading import read_folders
from fidal.report.tables.cost import cost, hours
from tests.report.made import edit, make_run


@pytest.fixture
def priced(tmp_path: Path) -> Study:
    """FIDAL 50 % with 100 OOD at R5, its best; BADGE 48 % with 250; LfOSA 30 % with 40."""
    numbers = {"fidal": (0.5, 100), "badge": (0.48, 250), "lfosa": (0.3, 40)}
    for strategy, (score, outliers) in numbers.items():

        def change(row: dict[str, Any], score: float = score, outliers: int = outliers) -> None:
            if row["site"] == "*":
                row["bma_pooled"] = score if row["round"] == 5 else 0.1
                row["outliers"] = outliers if row["round"] == 5 else 0

        edit(make_run(tmp_path, strategy), change)
    (study,) = read_folders([tmp_path]).studies
    return study


def test_hours() -> None:
    assert hours(61.0) == pytest.approx(61 * 59 / 3600)
    assert hours(30, seconds=120) == 1


def test_cost_by_hand(priced: Study) -> None:
    cells = {row[0].text: [cell.text for cell in row[1:]] for row in cost(priced).cells()}
    # 100 x 59 s = 1.64 h, 250 x 59 s = 4.10 h, 40 x 59 s = 0.66 h.
    assert cells["FIDAL"] == ["50.0", "0.0", "100", "1.6", "0.0", "–"]
    assert cells["BADGE"] == ["48.0", "−2.0", "250", "4.1", "2.5", "2.5"]
    assert cells["LfOSA"] == ["30.0", "−20.0", "40", "0.7", "−1.0", "not matched"]


def test_another_reading_time_is_used_and_said(priced: Study) -> None:
    table = cost(priced, seconds=36)
    assert table.cells()[-1][4].text == "1.0"
    assert "36 s" in table.caption and "promise" in table.caption


def test_the_counts_that_the_paper_names_stand_beside_ours(tmp_path: Path) -> None:
    for strategy in ("lfosa", "fidal", "random"):
        make_run(tmp_path, strategy, benchmark={"name": "fedembed"})
    (study,) = read_folders([tmp_path]).studies
    table = cost(study)
    shown = {row[0].text: row[-1].text for row in table.cells()}
    assert shown == {"Random": "–", "LfOSA": "1,126", "FIDAL": "1,233"}
    assert table.columns[-1].name == "In the paper: OOD queried"
