"""The frozen encoder's features in two dimensions, for the eye: by PCA, or by UMAP."""

from dataclasses import dataclass
from typing import Final, Literal, get_args

import numpy as np
from numpy.typing import NDArray
from sklearn.decomposition import PCA

from fidal.data.benchmark import TRAIN
from fidal.report.album import Album
from fidal.report.spread import Floats
from fidal.types import OUTLIER

Projection = Literal["pca", "umap"]
PROJECTIONS: Final[tuple[Projection, ...]] = get_args(Projection)
WORDS: Final = {
    "pca": "the two main directions (PCA, fitted once over all sites)",
    "umap": "UMAP, which keeps neighbours together and says nothing of distances",
}
SHOWN: Final = {"pca": 1000, "umap": 500}
"""At most so many images of each site; UMAP takes ten seconds for four thousand."""


@dataclass(frozen=True, eq=False)
class FeatureMap:
    """Training images of all sites."""

    projection: Projection
    at: Floats
    """n x 2."""
    site: NDArray[np.str_]
    label: NDArray[np.int64]
    classes: int

    @property
    def how(self) -> str:
        """For a caption."""
        return f"{WORDS[self.projection]}, at most {SHOWN[self.projection]:,} of each site"


def feature_map(album: Album, projection: Projection) -> FeatureMap | None:
    """None without features, or without known outliers."""
    manifest, features = album.benchmark.manifest, album.benchmark.coverage
    if features is None or not (manifest.label == OUTLIER).any():
        return None
    rng = np.random.default_rng(0)
    pools = [
        np.flatnonzero((manifest.site == site) & (manifest.split == TRAIN))
        for site in manifest.sites
    ]
    rows = np.sort(np.concatenate([rng.permutation(p)[: SHOWN[projection]] for p in pools]))
    project = main_directions if projection == "pca" else neighbourhoods
    at = project(np.asarray(features[rows], dtype=np.float64))
    labels = manifest.label[rows]
    return FeatureMap(projection, at, manifest.site[rows], labels, len(manifest.classes))


def main_directions(features: Floats) -> Floats:
    """PCA: n x d to n x 2; the sign is such that the largest coordinate is positive."""
    at = PCA(2, random_state=0).fit_transform(features)
    peaks = at[np.abs(at).argmax(0), np.arange(at.shape[1])]
    return np.asarray(at * np.sign(peaks))


def neighbourhoods(features: Floats) -> Floats:
    """UMAP: n x d to n x 2, the same for the same features."""
    try:
        from umap import UMAP
    except ImportError as error:
        raise ValueError(
            "the map by UMAP needs umap-learn; install 'fidal[umap]', or take --map pca"
        ) from error
    return np.asarray(UMAP(random_state=0, n_jobs=1).fit_transform(features), dtype=np.float64)
