import numpy as np
import pytest

from fidal.report.figures.pareto_sites import draw
from fidal.report.frame import Study


def test_every_site_has_a_panel_with_the_paths_of_its_own_numbers(study: Study) -> None:
    made = draw(study)
    assert [axes.get_title() for axes in made.axes] == list(study.sites)
    for axes, site in zip(made.axes, study.sites, strict=True):
        for place, method in enumerate(study.main):  # each draws its path, its end and its start
            path = np.asarray(axes.lines[3 * place].get_xydata())
            keys = ("purity", "bma")
            expected = [100 * study.values(method, key, site).mean(0)[:, None] for key in keys]
            np.testing.assert_allclose(path, np.hstack(expected))
            assert axes.lines[3 * place + 1].get_xydata()[0] == pytest.approx(path[-1])
            assert axes.lines[3 * place + 2].get_xydata()[0] == pytest.approx(path[0])


def test_only_the_outer_panels_name_the_score(study: Study) -> None:
    labels = [axes.get_ylabel() for axes in draw(study).axes]
    assert labels == ["Balanced accuracy (%)", "", "", ""]
