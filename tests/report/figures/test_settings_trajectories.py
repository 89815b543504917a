from pathlib import Path

import numpy as np

from fidal.report.figures.settings_trajectories import draw
from fidal.report.reading import read_folders
from fidal.report.style import signed
from fidal.report.variations import Variation, variations
from tests.report.made import make_run


def line_of(root: Path) -> Variation:
    for rounds in (2, 10, 100):
        training = {"rounds": rounds, "epochs": 1}
        make_run(root, "fidal", training=training)
        make_run(root, "random", training=training, bonus=0.2 if rounds == 2 else 0.0)
    make_run(root, "badge", training={"rounds": 100, "epochs": 1})
    (line,) = variations(read_folders([root]).studies)
    return line


def test_a_panel_per_setting_with_its_curves_and_gaps(tmp_path: Path) -> None:
    line = line_of(tmp_path)
    made = draw(line)
    titles = [axes.get_title() for axes in made.axes]
    assert titles == [f"training.rounds={rounds}" for rounds in (2, 10, 100)]
    for axes, study in zip(made.axes, line.studies, strict=True):
        curves = {m: 100 * study.values(m, "bma_pooled")[0] for m in study.main}
        for method, drawn in zip(study.main, axes.lines, strict=True):
            np.testing.assert_allclose(drawn.get_ydata(), curves[method])
        best = np.max([curve for m, curve in curves.items() if m != "fidal"], axis=0)
        gaps = (curves["fidal"] - best)[1:]
        assert [text.get_text() for text in axes.texts] == [signed(gap) for gap in gaps]
    assert made.axes[0].get_ylim() == made.axes[2].get_ylim()


def test_a_method_of_one_setting_only_is_in_the_legend(tmp_path: Path) -> None:
    made = draw(line_of(tmp_path))
    texts = [text.get_text() for text in made.legends[0].get_texts()]
    assert texts == ["Random", "BADGE", "FIDAL"]
