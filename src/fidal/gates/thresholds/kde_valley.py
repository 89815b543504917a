"""The valley between the two modes of the scores, if there are two."""

from typing import ClassVar

import numpy as np
from scipy.ndimage import gaussian_filter1d
from scipy.signal import find_peaks
from torch import Tensor

from fidal.gates.thresholds.base import Scores, Threshold, ascending

BINS = 512
PROMINENCE = 0.02
"""A mode rises by this share of the highest one above the valley that parts it from a higher."""


class KdeValley(Threshold):
    """The lowest point of a kernel density estimate between its two most prominent modes.

    Gaussian kernel, Silverman's bandwidth, on 512 bins of [0, 1] (`scipy.stats.gaussian_kde`
    would visit every candidate at every grid point). One mode: nothing is refused.
    """

    name: ClassVar[str] = "kde-valley"

    def cut(self, scores: Tensor, null: Tensor | None) -> float | None:
        """The null is not looked at."""
        density = _density(ascending(scores))
        modes, shape = find_peaks(density, prominence=PROMINENCE * density.max())
        if len(modes) < 2:
            return None
        left, right = sorted(modes[np.argsort(-shape["prominences"], kind="stable")[:2]])
        valley = density[left:right]
        # An empty gap is a flat valley: its middle.
        bottom = left + np.flatnonzero(valley == valley.min()).mean()
        return float((bottom - 1 + 0.5) / BINS)


def _density(pool: Scores) -> Scores:
    """Smoothed histogram with an empty bin at either end, so that a mode may touch the border."""
    counts = np.bincount(np.minimum((pool * BINS).astype(int), BINS - 1), minlength=BINS)
    lower, upper = np.quantile(pool, [0.25, 0.75])
    spread = min(pool.std(), (upper - lower) / 1.34) or pool.std()
    bandwidth = 0.9 * spread * len(pool) ** -0.2
    padded: Scores = np.zeros(BINS + 2)
    padded[1:-1] = gaussian_filter1d(
        counts.astype(float), max(bandwidth * BINS, 1), mode="constant"
    )
    return padded
