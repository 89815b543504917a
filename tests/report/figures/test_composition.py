from dataclasses import replace

import pytest

from fidal.report.figures.composition import draw
from fidal.report.frame import Study


def test_bars_are_counts_and_the_rule_is_random_s(study: Study) -> None:
    panels = draw(study).axes
    assert [axes.get_title() for axes in panels] == ["R1", "R2", "R3", "R4", "R5"]
    for axes in panels:
        assert axes.get_ylim()[0] > axes.get_ylim()[1]  # the first method on top
    last = panels[-1]
    widths = [patch.get_width() for patch in last.patches]  # blue and red by turns
    for row, method in enumerate(study.main):
        assert widths[2 * row] == pytest.approx(study.values(method, "labelled")[:, 5].mean())
        assert widths[2 * row + 1] == pytest.approx(study.values(method, "outliers")[:, 5].mean())
    (rule,) = last.lines
    assert rule.get_xdata()[0] == pytest.approx(widths[0])


def test_without_random_there_is_no_rule(study: Study) -> None:
    made = draw(replace(study, main=("badge", "fidal")))
    assert not made.axes[0].lines
    assert [text.get_text() for text in made.legends[0].get_texts()] == [
        "belongs (ID)",
        "does not belong (OOD)",
    ]
