import numpy as np
from matplotlib.colors import to_rgba

from fidal.data.benchmark import Benchmark, Manifest
from fidal.report.album import Album
from fidal.report.feature_map import feature_map
from fidal.report.figures.coverage_map import SHADES, draw
from fidal.report.style import OOD


def test_images_are_coloured_by_truth_and_class_site_by_site() -> None:
    labels = [0, 1, -1, 0, -1, -1, 0, 1]
    manifest = Manifest(
        classes=("a", "b"),
        ids=tuple("abcdefgh"),
        site=np.array(["x", "y"] * 4),
        split=np.array(["train"] * 8),
        label=np.array(labels),
    )
    features = np.random.default_rng(0).normal(size=(8, 5)).astype(np.float32)
    found = feature_map(Album(Benchmark("made", manifest, features, features)), "pca")
    assert found is not None
    made = draw(found, ("x", "y"))
    assert made is not None
    kinds = {0: SHADES(0.0), 1: SHADES(1.0), -1: to_rgba(OOD)}
    for axes, own in zip(made.axes, ([0, -1, -1, 0], [1, 0, -1, 1]), strict=True):
        (points,) = axes.collections
        colours = points.get_facecolors()[:, :3]
        np.testing.assert_allclose(colours, [kinds[label][:3] for label in own])
        np.testing.assert_allclose(points.get_offsets(), found.at[found.site == axes.get_title()])


def test_no_map_no_figure() -> None:
    assert draw(None, ("x", "y")) is None
