import numpy as np
import pytest
from matplotlib.colors import same_color

from fidal.report.figures.gate_rules import draw
from fidal.report.gate_study import RULES
from fidal.report.style import ID, OOD
from tests.report.tables.test_gate_rules import GATE


def test_bands_span_the_sites_thresholds_and_the_bar_is_their_median() -> None:
    made = draw(GATE)
    assert made is not None
    bands = made.axes[1]
    for row, patch in enumerate(bands.patches):
        assert (patch.get_x(), patch.get_width()) == (pytest.approx(0.2), pytest.approx(0.2))
        dots, median = bands.lines[2 * row : 2 * row + 2]
        assert dots.get_xdata().tolist() == [0.4, 0.2]
        assert median.get_xdata() == pytest.approx([0.3, 0.3])
    assert len(bands.patches) == len(RULES)


def test_bars_are_one_per_rule_and_site_and_the_mean_is_written() -> None:
    made = draw(GATE)
    assert made is not None
    caught, lost = made.axes[2:]
    for axes, colour, widths, mean in (
        (caught, OOD, [90, 0], "90 %"),  # site y has no OOD: nothing to catch, and in no mean
        (lost, ID, [2, 4], "3 %"),
    ):
        bars = [bar for bar in axes.patches if same_color(bar.get_facecolor(), colour)]
        assert [bar.get_width() for bar in bars[:2]] == pytest.approx(widths)
        assert len(bars) == 2 * len(RULES)
        assert [text.get_text() for text in axes.texts] == [mean] * len(RULES)


def test_the_histogram_is_of_all_sites_split_by_truth_and_the_rule_that_ran_is_bold() -> None:
    made = draw(GATE)
    assert made is not None
    above, bands = made.axes[:2]
    inside, outside = (patch.get_xy() for patch in above.patches)
    assert np.isclose(inside[:, 1].max(), 1) and np.isclose(outside[:, 1].max(), 1)
    weights = [text.get_fontweight() for text in bands.get_yticklabels()]
    assert weights == ["bold"] + ["normal"] * (len(RULES) - 1)


def test_no_study_no_figure() -> None:
    assert draw(None) is None
