"""A map of the frozen encoder’s features (after Figure 4, top): can ID and OOD be told apart?"""

from collections.abc import Sequence
from typing import Final

import numpy as np
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from fidal.report.album import Album
from fidal.report.spread import Floats
from fidal.report.style import ID, OOD, TWO_COLUMNS, figure, panels, styled
from fidal.types import OUTLIER

TITLE: Final = "What the gate’s encoder sees"
CAPTION: Final = (
    "The training images of each site in the two main directions (PCA, fitted once over all sites) "
    "of the frozen encoder’s features, ID blue and OOD red, at most 1,000 of each site. Where the "
    "colours lie apart, a gate can work; two directions show less than the gate sees."
)
SHOWN = 1000


@styled
def draw(album: Album, sites: Sequence[str]) -> Figure | None:
    """One panel per site; None without features, or without known outliers."""
    manifest, features = album.benchmark.manifest, album.benchmark.coverage
    if features is None or not (manifest.label == OUTLIER).any():
        return None
    pools = {}
    rng = np.random.default_rng(0)
    for site in sites:
        rows = np.flatnonzero((manifest.site == site) & (manifest.split == "train"))
        pools[site] = np.sort(rng.permutation(rows)[:SHOWN])
    every = np.concatenate(list(pools.values()))
    places = dict(zip(every.tolist(), main_directions(np.asarray(features[every])), strict=True))
    columns = min(4, len(sites))
    made = figure(TWO_COLUMNS, 1.75 * -(-len(sites) // columns) + 0.3)
    grid = panels(made, -(-len(sites) // columns), columns, len(sites))
    for axes, (site, rows) in zip(grid, pools.items(), strict=True):
        at = np.array([places[row] for row in rows.tolist()])
        foreign = manifest.label[rows] == OUTLIER
        for own, colour in ((~foreign, ID), (foreign, OOD)):
            axes.scatter(
                at[own, 0], at[own, 1], s=3, color=colour, alpha=0.5, lw=0, rasterized=True
            )
        axes.set(title=site, xticks=[], yticks=[])
    handles = [
        Line2D([], [], color=colour, marker="o", ls="none", label=name)
        for colour, name in ((ID, "ID"), (OOD, "OOD"))
    ]
    made.legend(handles=handles, loc="outside lower center", ncols=2)
    return made


def main_directions(features: Floats) -> Floats:
    """PCA: n x d to n x 2; the sign is such that the largest coordinate is positive."""
    centred = features.astype(np.float64) - features.mean(0)
    _, _, axes = np.linalg.svd(centred, full_matrices=False)
    at = centred @ axes[:2].T
    peaks = at[np.abs(at).argmax(0), np.arange(at.shape[1])]
    return np.asarray(at * np.sign(peaks))
