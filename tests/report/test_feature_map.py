from dataclasses import replace

import numpy as np
import pytest

from fidal.data.benchmark import Benchmark, Manifest
from fidal.report.album import Album
from fidal.report.feature_map import SHOWN, feature_map, main_directions, neighbourhoods


def album(labels: list[int], width: int = 5) -> Album:
    n = len(labels)
    manifest = Manifest(
        classes=("a", "b"),
        ids=tuple(str(i) for i in range(n)),
        site=np.array(["x", "y"] * (n // 2)),
        split=np.array(["train"] * (n - 2) + ["test"] * 2),
        label=np.array(labels),
    )
    features = np.random.default_rng(0).normal(size=(n, width)).astype(np.float32)
    return Album(Benchmark("made", manifest, np.zeros((n, 3), np.float32), features))


def test_main_directions_are_those_of_largest_variance() -> None:
    rng = np.random.default_rng(1)
    hidden = rng.normal(size=(200, 2)) * [5, 2]
    features = np.column_stack([0.01 * rng.normal(size=200), hidden[:, 1], 3 - hidden[:, 0]])
    at = main_directions(features)
    _, axes = np.linalg.eigh(np.cov(features.T))  # the largest last
    expected = (features - features.mean(0)) @ axes[:, [2, 1]]
    np.testing.assert_allclose(np.abs(at), np.abs(expected), atol=1e-9)
    assert (at[np.abs(at).argmax(0), [0, 1]] > 0).all()


def test_the_map_is_of_training_images_at_most_so_many_per_site() -> None:
    few = feature_map(album([0, 1, -1, 0, -1, -1, 0, 0]), "pca")
    assert few is not None
    assert (few.site.tolist(), few.label.tolist()) == (["x", "y"] * 3, [0, 1, -1, 0, -1, -1])
    many = feature_map(album([-1, 0] * 1500), "pca")
    assert many is not None
    assert [int((many.site == site).sum()) for site in "xy"] == [SHOWN["pca"]] * 2
    assert "at most 1,000 of each site" in many.how and "PCA" in many.how


def test_nothing_to_see_without_outliers_or_features() -> None:
    assert feature_map(album([0, 1, 0, 1]), "pca") is None
    known = album([0, -1, 0, 1])
    assert feature_map(Album(replace(known.benchmark, coverage=None)), "pca") is None


@pytest.mark.slow
def test_umap_keeps_clusters_together_and_repeats_itself() -> None:
    pytest.importorskip("umap", reason="umap-learn is not installed")
    rng = np.random.default_rng(0)
    features = np.concatenate([rng.normal(c, 0.1, (30, 6)) for c in (0, 3)])
    at = neighbourhoods(features)
    np.testing.assert_array_equal(at, neighbourhoods(features))
    apart = np.linalg.norm(at[:, None] - at[None], axis=2)
    np.fill_diagonal(apart, np.inf)
    assert (apart.argmin(1) // 30 == np.arange(60) // 30).all()
