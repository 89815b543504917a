import numpy as np
import pytest

from fidal.report.comparing import best_round
from fidal.report.figures.accuracy_ood import draw
from fidal.report.frame import Study


def test_every_method_stands_at_its_best_round(study: Study) -> None:
    (axes,) = draw(study).axes
    points = {str(bars.get_label()): bars.lines[0].get_xydata()[0] for bars in axes.containers}
    for method, name in zip(study.main, ("Random", "Entropy", "BADGE", "FIDAL"), strict=True):
        round = best_round(study, method)
        expected = (
            np.mean(study.values(method, "outliers")[:, round]),
            100 * np.mean(study.values(method, "bma_pooled")[:, round]),
        )
        assert points[f"{name} (R{round})"] == pytest.approx(expected)


def test_missing_seeds_are_in_the_legend(patchy: Study) -> None:
    (axes,) = draw(patchy).axes
    labels = axes.get_legend_handles_labels()[1]
    assert [label.split(" (R")[0] for label in labels] == [
        "Random",
        "Entropy [2/3 seeds]",
        "BADGE [2/3 seeds]",
        "FIDAL",
    ]
