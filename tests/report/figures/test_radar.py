from dataclasses import replace
from pathlib import Path

import numpy as np

from fidal.report.figures.radar import class_gaps, draw, mean_recall
from fidal.report.frame import Study
from fidal.report.reading import read_folders
from fidal.report.style import ID, OOD
from tests.report.made import CLASSES, make_run


def test_spokes_are_mean_recalls(study: Study) -> None:
    made = draw(study)
    assert made is not None
    for method, line in zip(study.main, made.axes[0].lines, strict=True):
        expected = 100 * study.recalls(method)[:, 5].mean(0)
        np.testing.assert_allclose(line.get_ydata()[:-1], expected)


def test_gap_is_to_the_best_other_of_each_class(study: Study) -> None:
    others = np.array([mean_recall(study, m) for m in ("random", "entropy", "badge")])
    expected = mean_recall(study, "fidal") - others.max(0)
    np.testing.assert_allclose(class_gaps(study), expected)
    made = draw(study)
    assert made is not None
    for text, gap in zip(made.axes[0].get_xticklabels(), expected, strict=True):
        if abs(gap) > 0.05:
            assert text.get_color() == (ID if gap > 0 else OOD)


def test_a_class_that_nobody_tests_has_no_gap(study: Study) -> None:
    alone = replace(study, main=("fidal",))
    assert np.isnan(class_gaps(alone)).all()
    made = draw(alone)
    assert made is not None
    assert made.axes[0].get_xticklabels()[0].get_text() == "MEL\n"


def test_two_classes_have_no_radar(tmp_path: Path) -> None:
    make_run(tmp_path, "fidal", classes=CLASSES[:2])
    (two,) = read_folders([tmp_path]).studies
    assert draw(two) is None
