from pathlib import Path

import numpy as np
import pytest

from fidal.report.figures import ablation
from fidal.report.figures.lambda_grid import draw, grid_of, pareto_front
from fidal.report.frame import Study
from fidal.report.reading import read_folders
from tests.report.made import make_run

BASE = {"name": "fidal", "lambda_div": 1.0, "lambda_ood": 0.5, "gate": {"name": "otsu"}}


@pytest.fixture(scope="module")
def swept(tmp_path_factory: pytest.TempPathFactory) -> Study:
    """2 x 3 pairs; the score falls with lambda_div."""
    root = tmp_path_factory.mktemp("grid")
    for div in (0.0, 1.0):
        for ood in (0.0, 0.5, 2.0):
            table = {**BASE, "lambda_div": div, "lambda_ood": ood}
            make_run(root, table, bonus=0.3 - 0.2 * div + 0.05 * ood)
    (study,) = read_folders([root]).studies
    return study


def test_heat_map_holds_each_cell_s_own_run(swept: Study) -> None:
    grid, made = grid_of(swept), draw(swept)
    assert grid is not None and made is not None
    assert (grid.div, grid.ood) == ((0.0, 1.0), (0.0, 0.5, 2.0))
    shown = np.asarray(made.axes[0].images[0].get_array())
    for (div, ood), method in grid.method.items():
        run = swept.run(method, 0)
        assert run is not None
        assert run.config["strategy"] == {**BASE, "lambda_div": div, "lambda_ood": ood}
        expected = 100 * swept.spread(method, "bma_pooled", 5).mean
        assert shown[grid.div.index(div), grid.ood.index(ood)] == pytest.approx(expected)


def test_a_grid_is_no_ablation_and_an_ablation_no_grid(swept: Study, tmp_path: Path) -> None:
    assert ablation.draw(swept) is None
    for table in (BASE, {**BASE, "gate": None}, {**BASE, "lambda_div": 0.0}):
        make_run(tmp_path, table)
    (study,) = read_folders([tmp_path]).studies
    assert draw(study) is None
    made = ablation.draw(study)
    assert made is not None
    texts = [text.get_text() for text in made.legends[0].get_texts()]
    assert texts == ["adopted", "gate=none", "lambda_div=0"]
    points = [bars.lines[0].get_xydata()[0] for bars in made.axes[0].containers]
    for method, point in zip(study.methods, points, strict=True):
        expected = [100 * study.spread(method, key, 5).mean for key in ("purity", "bma_pooled")]
        assert point == pytest.approx(expected)


def test_one_method_has_neither(study: Study) -> None:
    assert draw(study) is None and ablation.draw(study) is None


def test_pareto_front_by_hand() -> None:
    x = np.array([1.0, 2.0, 3.0, 2.5, np.nan])
    y = np.array([5.0, 4.0, 1.0, 0.5, 9.0])
    assert pareto_front(x, y) == [0, 1, 2]
