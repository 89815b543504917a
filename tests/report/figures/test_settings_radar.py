from pathlib import Path

import numpy as np

from fidal.report.figures.settings_radar import draw
from fidal.report.reading import read_folders
from fidal.report.variations import Variation, variations
from tests.report.made import CLASSES, make_run


def line_of(root: Path, budgets: tuple[int, ...], classes: int = 8) -> Variation:
    for budget in budgets:
        for strategy in ("random", "fidal"):
            bonus = budget / 400
            make_run(root, strategy, budget=budget, bonus=bonus, classes=CLASSES[:classes])
    (line,) = variations(read_folders([root]).studies)
    return line


def test_a_radar_per_setting_in_its_order_on_one_scale(tmp_path: Path) -> None:
    line = line_of(tmp_path, (150, 50))
    made = draw(line)
    assert made is not None
    assert [axes.get_title() for axes in made.axes] == ["budget=50", "budget=150"]
    for axes, study in zip(made.axes, line.studies, strict=True):
        shown = axes.lines[1].get_ydata()[:-1]
        np.testing.assert_allclose(shown, 100 * study.recalls("fidal")[0, 5])
    small, large = (axes.get_ylim() for axes in made.axes)
    assert small == large


def test_two_classes_have_no_radar(tmp_path: Path) -> None:
    assert draw(line_of(tmp_path, (50, 150), classes=2)) is None


def test_four_settings_stand_in_two_rows_of_two(tmp_path: Path) -> None:
    made = draw(line_of(tmp_path, (50, 150, 300, 500)))
    assert made is not None
    grid = made.axes[0].get_subplotspec()
    assert grid is not None
    assert grid.get_gridspec().get_geometry() == (2, 2)
