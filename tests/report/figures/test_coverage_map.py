import numpy as np

from fidal.data.benchmark import Benchmark, Manifest
from fidal.report.album import Album
from fidal.report.figures.coverage_map import draw, main_directions


def album(labels: list[int]) -> Album:
    n = len(labels)
    rng = np.random.default_rng(0)
    manifest = Manifest(
        classes=("a", "b"),
        ids=tuple(str(i) for i in range(n)),
        site=np.array(["x", "y"] * (n // 2)),
        split=np.array(["train"] * (n - 2) + ["test"] * 2),
        label=np.array(labels),
    )
    features = rng.normal(size=(n, 5)).astype(np.float32)
    return Album(Benchmark("made", manifest, np.zeros((n, 3), np.float32), features))


def test_main_directions_are_those_of_largest_variance() -> None:
    rng = np.random.default_rng(1)
    hidden = rng.normal(size=(200, 2)) * [5, 2]
    features = np.column_stack([0.01 * rng.normal(size=200), hidden[:, 1], 3 - hidden[:, 0]])
    at = main_directions(features)
    _, axes = np.linalg.eigh(np.cov(features.T))  # the largest last
    expected = (features - features.mean(0)) @ axes[:, [2, 1]]
    np.testing.assert_allclose(np.abs(at), np.abs(expected), atol=1e-9)


def test_training_images_are_split_by_truth() -> None:
    labels = [0, 1, -1, 0, -1, -1, 0, 0]
    made = draw(album(labels), ("x", "y"))
    assert made is not None
    counts = [[len(points.get_offsets()) for points in axes.collections] for axes in made.axes]
    # Site x: images 0, 2, 4 are for training, site y: 1, 3, 5.
    assert counts == [[1, 2], [2, 1]]


def test_nothing_to_see_without_outliers_or_features() -> None:
    assert draw(album([0, 1, 0, 1]), ("x", "y")) is None
    known = album([0, -1, 0, 1])
    blind = Benchmark("made", known.benchmark.manifest, known.benchmark.inputs)
    assert draw(Album(blind), ("x", "y")) is None
