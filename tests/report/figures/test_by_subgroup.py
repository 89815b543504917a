from dataclasses import replace

import numpy as np
import pytest

from fidal.report.figures.by_subgroup import draw
from fidal.report.frame import Study
from fidal.report.spread import Spread
from fidal.report.style import GREY
from fidal.report.subgroups import Subgroup


def group(column: str, value: str, images: int, score: float) -> Subgroup:
    scores = {
        name: Spread(score - 0.1 * i, 0.02, 3, 3) for i, name in enumerate(("fidal", "badge"))
    }
    return Subgroup(column, value, images, 8, scores)


GROUPS = (
    group("sex", "f", 1212, 0.5),
    group("sex", "m", 29, 0.4),
    group("skin", "I", 300, 0.6),
)


def test_a_panel_per_column_and_a_row_per_group(study: Study) -> None:
    made = draw(replace(study, main=("badge", "fidal")), GROUPS)
    assert made is not None
    sex, skin = made.axes
    assert (sex.get_title(), skin.get_title()) == ("sex", "skin")
    names = sex.get_yticklabels()
    assert [text.get_text() for text in names] == ["f (1,212)", "m (29)"]
    assert [text.get_color() for text in names] == ["black", GREY]
    badge, fidal = (line for line in sex.lines if len(line.get_xdata()) == 2)
    np.testing.assert_allclose(badge.get_xdata(), [40, 30])
    np.testing.assert_allclose(fidal.get_xdata(), [50, 40])


def test_only_the_reference_has_its_spread_drawn(study: Study) -> None:
    made = draw(replace(study, main=("badge", "fidal")), GROUPS)
    assert made is not None
    (bars,) = made.axes[0].collections
    first = bars.get_paths()[0].vertices
    assert first[:, 0] == pytest.approx([48, 52])


def test_no_groups_no_figure(study: Study) -> None:
    assert draw(study, ()) is None
