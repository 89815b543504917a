from pathlib import Path

import numpy as np
import pytest

from fidal.report.comparing import reference
from fidal.report.figures.lambda_grid import draw, grid_of, pareto_front
from fidal.report.frame import Study
from fidal.report.reading import read_folders
from fidal.report.style import OOD
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


def test_a_cross_through_the_adopted_pair_is_no_grid(tmp_path: Path) -> None:
    for div, ood in ((1.0, 0.5), (0.0, 0.5), (1.0, 0.0)):
        make_run(tmp_path, {**BASE, "lambda_div": div, "lambda_ood": ood})
    (study,) = read_folders([tmp_path]).studies
    assert grid_of(study) is None and draw(study) is None


def test_variants_that_differ_elsewhere_are_not_in_the_grid(tmp_path: Path) -> None:
    for div in (0.0, 1.0):
        for ood in (0.0, 0.5):
            make_run(tmp_path, {**BASE, "lambda_div": div, "lambda_ood": ood})
    make_run(tmp_path, {**BASE, "gate": None})
    (study,) = read_folders([tmp_path]).studies
    grid = grid_of(study)
    assert grid is not None
    assert len(grid.method) == 4 and "fidal (gate=none)" not in grid.method.values()


def test_the_scatter_marks_the_adopted_pair_and_says_what_size_and_colour_are(
    swept: Study,
) -> None:
    made, grid = draw(swept), grid_of(swept)
    assert made is not None and grid is not None
    adopted = reference(swept)
    scatter = made.axes[2]
    (circle,) = [x for x in scatter.lines if (x.get_mec(), x.get_marker()) == (OOD, "o")]
    expected = [100 * swept.spread(adopted, key, 5).mean for key in ("purity", "bma_pooled")]
    assert circle.get_xydata()[0] == pytest.approx(expected)
    sizes = {line.get_markersize() for line in scatter.lines[:6]}
    assert len(sizes) == len(grid.div)
    texts = [text.get_text() for text in made.legends[0].get_texts()]
    assert texts[2:] == ["0", "0", "0.5", "1", "2", ""]  # column by column: colour over size


def test_one_method_has_no_grid(study: Study) -> None:
    assert draw(study) is None


def test_pareto_front_by_hand() -> None:
    x = np.array([1.0, 2.0, 3.0, 2.5, np.nan])
    y = np.array([5.0, 4.0, 1.0, 0.5, 9.0])
    assert pareto_front(x, y) == [0, 1, 2]


def test_of_points_with_the_same_x_only_the_highest_is_on_the_front() -> None:
    x, y = np.array([1.0, 2.0, 2.0, 3.0]), np.array([9.0, 4.0, 7.0, 1.0])
    assert pareto_front(x, y) == [0, 2, 3]
    assert pareto_front(x[[0, 2, 1, 3]], y[[0, 2, 1, 3]]) == [0, 1, 3]
