import numpy as np
from matplotlib.axes import Axes

from fidal.report.figures import pareto
from fidal.report.frame import Study


def path_of(axes: Axes, place: int) -> np.ndarray:
    """The `place`-th method's path: each draws its path, its end and its start."""
    return np.asarray(axes.lines[3 * place].get_xydata())


def test_paths_are_purity_and_score_over_the_rounds(study: Study) -> None:
    (axes,) = pareto.draw(study).axes
    expected = [
        100 * study.values("badge", key).mean(0)[:, None] for key in ("purity", "bma_pooled")
    ]
    np.testing.assert_allclose(path_of(axes, 2), np.hstack(expected))
