import numpy as np
import pytest

from fidal.report.frame import Study
from fidal.report.spread import Spread
from fidal.report.tables.per_class import calibration, recall
from tests.report.made import CLASSES


def test_recall_is_over_the_pooled_test_images(study: Study) -> None:
    table = recall(study)
    assert tuple(column.name for column in table.columns[1:]) == CLASSES
    for method, line in zip(study.main, table.lines, strict=True):
        each = study.recalls(method)[:, 5]
        for cell, values in zip(line.cells[1:], each.T, strict=True):
            assert isinstance(cell, Spread)
            assert cell.mean == pytest.approx(np.mean(values))


def test_calibration_is_per_site(study: Study) -> None:
    assert [cell.text for cell in calibration(study).cells()[0]][1:] == [
        "10.0 ± 0.0",
        "11.0 ± 0.0",
        "12.0 ± 0.0",
        "13.0 ± 0.0",
    ]
