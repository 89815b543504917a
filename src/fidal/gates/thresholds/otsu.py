"""The paper's threshold: Otsu's between-class variance on a histogram."""

from typing import ClassVar

import numpy as np
from torch import Tensor

from fidal.gates.thresholds.base import Scores, Threshold, ascending

BINS = 256


class Otsu(Threshold):
    """The centre of the bin after which a split of [0, 1] has the largest between-class variance.

    256 bins of equal width; the first bin wins a tie. Otsu always splits, also a clean pool.
    """

    name: ClassVar[str] = "otsu"

    def cut(self, scores: Tensor, null: Tensor | None) -> float | None:
        """The null is not looked at. Constant scores give None."""
        return otsu(ascending(scores))


def otsu(scores: Scores) -> float | None:
    """argmax_i w1 w2 (m1 - m2)^2, bins 0..i having mass w1 and mean m1, the rest w2 and m2."""
    bins = np.minimum((scores * BINS).astype(np.int64), BINS - 1)
    counts = np.bincount(bins, minlength=BINS)
    centres = (np.arange(BINS) + 0.5) / BINS
    w1 = np.cumsum(counts)[:-1]
    w2 = len(scores) - w1
    # Integers until the division: exact, so that empty bins tie exactly and the first one wins.
    moment = np.cumsum(counts * (2 * np.arange(BINS) + 1))
    s1, s2 = moment[:-1], moment[-1] - moment[:-1]
    apart = s1 / np.maximum(w1, 1) - s2 / np.maximum(w2, 1)
    between = np.where((w1 > 0) & (w2 > 0), w1 * w2 * apart**2, 0.0)
    best = int(between.argmax())
    return float(centres[best]) if between[best] > 0 else None
