from dataclasses import replace
from pathlib import Path

import numpy as np

from fidal.report.album import open_album
from fidal.report.evidence import last_queries
from fidal.report.figures.gate import draw
from fidal.report.frame import Study
from fidal.report.reading import read_folders
from fidal.report.style import GREY, ID, OOD


def test_lines_are_caught_and_lost_with_what_a_site_can_tell(study: Study) -> None:
    made = draw(study, (), None)
    assert made is not None
    first = made.axes[0]
    values = [
        100 * study.values("fidal", f"gate.{key}", "north")[:, 1:].mean(0)
        for key in ("true_recall", "recall", "true_id_loss", "id_loss")
    ]
    for line, expected in zip(first.lines, values, strict=True):
        np.testing.assert_allclose(line.get_ydata(), expected)
    assert [line.get_linestyle() for line in first.lines] == ["-", ":", "-", ":"]
    caught, lost = values[0].mean(), values[2].mean()
    assert first.get_title() == "north"
    assert first.get_xlabel() == f"{caught:.0f} % caught, {lost:.0f} % lost"


def test_histograms_split_by_truth_where_it_is_known(pictured: Path, tmp_path: Path) -> None:
    (study,) = read_folders([pictured / "runs"]).studies
    run = study.run("fidal", 0)
    assert run is not None
    queries = last_queries(run)
    album = open_album(run.config, tmp_path)
    known = draw(study, queries, album.label)
    unknown = draw(study, queries, None)
    assert known is not None and unknown is not None
    colours = [patch.get_facecolor() for patch in known.axes[0].patches]
    from matplotlib.colors import to_rgba

    assert colours == [to_rgba(ID, 0.55), to_rgba(OOD, 0.55)]
    assert [p.get_facecolor() for p in unknown.axes[0].patches] == [to_rgba(GREY, 0.55)]
    assert known.axes[0].lines[0].get_xdata()[0] == 0.4  # the threshold


def test_no_gate_no_figure(study: Study) -> None:
    assert draw(replace(study, main=("random", "badge")), (), None) is None
