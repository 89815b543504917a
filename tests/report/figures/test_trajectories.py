from pathlib import Path

import numpy as np
from matplotlib.colors import same_color

from fidal.report.figures import trajectories
from fidal.report.frame import Study
from fidal.report.reading import read_folders
from fidal.report.style import ID, KNOWN, OOD
from tests.report.made import make_run


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


def test_bands_are_of_the_two_that_the_gaps_compare(study: Study) -> None:
    score = trajectories.draw(study).axes[0]
    colours = [band.get_facecolor()[0][:3] for band in score.collections]
    best = KNOWN["badge"].colour
    assert len(colours) == 2
    assert same_color(colours[0], best) and same_color(colours[1], KNOWN["fidal"].colour)
    band = score.collections[1].get_paths()[0].vertices
    last = 100 * study.values("fidal", "bma_pooled")[:, 5]
    ends = band[band[:, 0] == 5][:, 1]
    np.testing.assert_allclose(
        [ends.min(), ends.max()], [last.mean() - last.std(ddof=1), last.mean() + last.std(ddof=1)]
    )


def test_a_lag_is_red(tmp_path: Path) -> None:
    make_run(tmp_path, "fidal")
    make_run(tmp_path, "badge", bonus=0.3)
    (behind,) = read_folders([tmp_path]).studies
    texts = trajectories.draw(behind).axes[0].texts
    assert texts and {text.get_color() for text in texts} == {OOD}
    assert all(text.get_text().startswith("−") for text in texts)


def test_leads_are_blue(study: Study) -> None:
    assert {text.get_color() for text in trajectories.draw(study).axes[0].texts} == {ID}


def test_the_paper_s_supervised_model_is_a_line_on_its_own_benchmarks(
    tmp_path: Path, study: Study
) -> None:
    make_run(tmp_path, "fidal", benchmark={"name": "fedembed"})
    (theirs,) = read_folders([tmp_path]).studies
    (line,) = [x for x in trajectories.draw(theirs).axes[0].lines if x.get_linestyle() == "--"]
    np.testing.assert_allclose(line.get_ydata(), 69.54)
    assert all(x.get_linestyle() == "-" for x in trajectories.draw(study).axes[0].lines)
