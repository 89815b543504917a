from itertools import groupby
from pathlib import Path

import numpy as np
import pytest

from fidal.report.paper import (
    ALL,
    cell_of,
    cells,
    find,
    pool_outliers,
    quoted,
    setting_of,
    supervised,
)
from fidal.report.reading import read_folders
from fidal.strategies import STRATEGIES
from tests.report.made import make_run


@pytest.mark.parametrize(
    ("table", "benchmark", "strategy", "setting", "text", "purity"),
    [
        ("Table 1", "fedisic", "fidal", (500, 100), "71.14 ± 0.54 (R5)", 81.9),
        ("Table 1", "fedcamelyon", "lfosa", (500, 100), "94.41 ± 0.70 (R10)", 90.7),
        ("Table 1", "fedembed", "openpath", (500, 50), "68.21 ± 0.63 (R5)", 90.3),
        ("Table 1", "average", "badge", None, "78.11", 58.2),
        ("Table 1", "average", "supervised", None, "78.32", 100),
        ("Table S3", "fedisic", "feal", (50, 100), "30.16 ± 0.89 (R1)", 33.5),
        ("Table S3", "fedisic", "fidal", (500, 50), "69.54 ± 0.85 (R3)", 85.0),
        ("Table S3", "fedisic", "eoal", None, "54.96", 58.4),
        ("Table S4", "fedcamelyon", "openpath", (50, 100), "85.28 ± 1.53", 62.0),
        ("Table S4", "fedcamelyon", "lfosa", (300, 100), "93.12 ± 0.60", 92.9),
        ("Table S5", "fedembed", "entropy", (500, 25), "68.07 ± 0.81 (R10)", 82.0),
        ("Table S5", "fedembed", "fidal", (50, 50), "60.90 ± 1.59 (R10)", 95.5),
    ],
)
def test_cells_are_as_printed(
    table: str,
    benchmark: str,
    strategy: str,
    setting: tuple[int, int] | None,
    text: str,
    purity: float,
) -> None:
    (cell,) = [
        cell
        for cell in cells()
        if (cell.table, cell.benchmark, cell.strategy, cell.setting)
        == (table, benchmark, strategy, setting)
    ]
    assert cell.score.text(2, 100) == text
    assert 100 * cell.purity == pytest.approx(purity)


def test_the_printed_averages_are_those_of_the_cells() -> None:
    def table_of(cell: object) -> tuple[str, str]:
        return cell.table, cell.strategy  # type: ignore[attr-defined]

    checked = 0
    for (table, _), group in groupby(sorted(cells(), key=table_of), key=table_of):
        own = list(group)
        (printed,) = [cell for cell in own if cell.setting is None]
        distinct = [cell for cell in own if cell.setting is not None]
        assert len(distinct) == (3 if table == "Table 1" else 7)
        score = 100 * np.mean([cell.score.mean for cell in distinct])
        purity = 100 * np.mean([cell.purity for cell in distinct])
        assert abs(score - 100 * printed.score.mean) < 0.006
        assert abs(purity - 100 * printed.purity) < 0.051
        checked += 1
    assert checked == 10 + 3 * 9


def test_cells_that_two_tables_share_are_equal() -> None:
    for name, B, E in (("fedisic", 500, 100), ("fedcamelyon", 500, 100)):
        for strategy in ("random", "pal", "fidal"):
            one, two = (
                next(
                    cell
                    for cell in cells()
                    if (cell.table, cell.benchmark, cell.strategy, cell.setting)
                    == (table, name, strategy, (B, E))
                )
                for table in ("Table 1", "Table S3" if name == "fedisic" else "Table S4")
            )
            assert one.purity == two.purity
            assert one.score.text(2, 100).startswith(two.score.text(2, 100))


def test_its_strategies_are_ours() -> None:
    assert {cell.strategy for cell in cells()} - set(STRATEGIES) == {"supervised"}


def test_best_and_final_rounds_are_kept_apart() -> None:
    best, final = (find("fedembed", "fidal", (500, 50), at) for at in ("best", "final"))
    assert best is not None and best.score.text(2, 100) == "69.49 ± 0.36 (R7)"
    assert final is not None and final.score.text(2, 100) == "68.21 ± 0.31 (R10)"
    assert find("fedisic", "feal", (50, 100), "final") is None  # its best was round 1


def test_a_study_s_own_setting_comes_before_table_1(tmp_path: Path) -> None:
    for budget in (50, 70):
        training = {"rounds": 50, "epochs": 2}
        make_run(
            tmp_path, "fidal-paper", benchmark={"name": "fedisic"}, budget=budget, training=training
        )
    small, other = read_folders([tmp_path]).studies
    assert setting_of(small) == (50, 100)
    own, fallback = (cell_of(study, "fidal-paper", "best") for study in (small, other))
    assert own is not None and (own.table, own.score.mean) == ("Table S3", 0.5071)
    assert fallback is not None and (fallback.table, fallback.score.mean) == ("Table 1", 0.7114)


def test_pools_and_what_the_text_says() -> None:
    camelyon, embed = pool_outliers("fedcamelyon"), pool_outliers("fedembed")
    assert len(camelyon) == 5 and len(embed) == 4 and pool_outliers("fedisic") == {}
    for counts in camelyon.values():
        assert counts[ALL].images == sum(k.images for name, k in counts.items() if name != ALL)
    assert sum(counts[ALL].images for counts in camelyon.values()) == 36469
    assert embed["Selenia Dimensions"]["circle"].images == 21839
    assert embed["Clearview CSm"][ALL].share == pytest.approx(0.0483)
    assert quoted("fedcamelyon", "outliers at the matched round") == {"fidal": 4465, "lfosa": 2567}
    assert quoted("fedembed", "OOD caught (%)") == {"otsu": 57}
    assert supervised("fedembed") == pytest.approx(0.6954)
    assert supervised("phantom") is None
