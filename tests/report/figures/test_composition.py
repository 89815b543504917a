from dataclasses import replace

import pytest

from fidal.report.figures.composition import draw, shown_rounds
from fidal.report.frame import Study


def test_bars_are_counts_and_the_rule_is_random_s(study: Study) -> None:
    panels = draw(study).axes
    assert [axes.get_title() for axes in panels] == ["R1", "R2", "R3", "R4", "R5"]
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


def test_many_rounds_are_thinned_evenly_to_the_last(study: Study) -> None:
    many = replace(study)
    many.__dict__["rounds"] = range(21)
    assert shown_rounds(many) == [1, 5, 9, 12, 16, 20]
