import pytest

from fidal.report.comparing import best_round
from fidal.report.figures.cost import draw
from fidal.report.frame import Study


def test_bars_are_at_the_reference_s_best_round(study: Study) -> None:
    round = best_round(study, "fidal")
    (axes,) = draw(study).axes
    for method, bar in zip(study.main, axes.patches, strict=True):
        assert bar.get_width() == pytest.approx(study.spread(method, "outliers", round).mean)
    assert axes.get_xlabel().endswith(f"R{round}")


def test_hours_follow_the_reading_time(study: Study) -> None:
    (axes,) = draw(study, seconds=3600).axes
    mean = study.spread("fidal", "outliers", best_round(study, "fidal")).mean
    assert axes.texts[-1].get_text() == f"{mean:,.0f} · {mean:.1f} h"
