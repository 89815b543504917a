import numpy as np

from fidal.report.figures import settings_trajectories, trajectories
from fidal.report.frame import Study


def test_three_panels_hold_the_means(study: Study) -> None:
    axes = trajectories.draw(study).axes
    for panel, key, scale in zip(
        axes, ("bma_pooled", "purity", "outliers"), (100, 100, 1), strict=True
    ):
        for method, line in zip(study.main, panel.lines, strict=True):
            expected = scale * study.values(method, key).mean(0)
            np.testing.assert_allclose(line.get_ydata(), expected)


def test_gaps_are_to_the_best_other_at_each_queried_round(study: Study) -> None:
    texts = [text.get_text() for text in trajectories.draw(study).axes[0].texts]
    means = {method: study.values(method, "bma_pooled").mean(0) for method in study.main}
    gaps = means["fidal"] - np.max([means[m] for m in ("random", "entropy", "badge")], axis=0)
    assert texts == [f"{100 * gap:+.1f}".replace("-", "−") for gap in gaps[1:]]


def test_one_study_has_no_settings_to_compare(study: Study) -> None:
    assert settings_trajectories.draw([study]) is None
    made = settings_trajectories.draw([study, study])
    assert made is not None and len(made.axes) == 2
