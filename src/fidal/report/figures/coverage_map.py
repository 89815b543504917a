"""A map of the frozen encoder’s features (after Figure 4, top): can ID and OOD be told apart?"""

from collections.abc import Sequence
from typing import Final

import matplotlib
import numpy as np
from matplotlib.colors import LinearSegmentedColormap
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from fidal.report.feature_map import FeatureMap
from fidal.report.style import ID, OOD, TWO_COLUMNS, figure, fitted, panels, styled
from fidal.types import OUTLIER

TITLE: Final = "What the gate’s encoder sees"
CAPTION: Final = (
    "The training images of each site by the frozen encoder’s features: {how}. ID blue, one shade "
    "per class; OOD red. Where the colours lie apart, a gate can work; two dimensions show less "
    "than the gate sees."
)
SHADES: Final = LinearSegmentedColormap.from_list("id", ["#A6CEE8", ID, "#0B2F4E"])


@styled
def draw(features: FeatureMap | None, sites: Sequence[str]) -> Figure | None:
    """One panel per site, all in one frame; None without a map."""
    if features is None:
        return None
    columns = min(4, len(sites))
    rows = -(-len(sites) // columns)
    made = figure(TWO_COLUMNS, 1.75 * rows + 0.3)
    grid = panels(made, rows, columns, len(sites), share=True)
    shades = SHADES(np.linspace(0, 1, features.classes))
    colours = np.vstack([shades, matplotlib.colors.to_rgba(OOD)])  # OUTLIER is -1, the last one
    for axes, site in zip(grid, sites, strict=True):
        own = features.site == site
        at, labels = features.at[own], features.label[own]
        known = labels >= OUTLIER
        x, y = at[known].T
        axes.scatter(x, y, s=3, c=colours[labels[known]], alpha=0.6, lw=0, rasterized=True)
        axes.set(title=fitted(site), xticks=[], yticks=[])
    handles = [
        Line2D([], [], color=colour, marker="o", ls="none", label=name)
        for colour, name in ((ID, "ID (a shade per class)"), (OOD, "OOD"))
    ]
    made.legend(handles=handles, loc="outside lower center", ncols=2)
    return made
