"""Two Gaussians on the scores, the upper one being ID (LfOSA's idea, applied to G)."""

from typing import ClassVar

import numpy as np
from sklearn.mixture import GaussianMixture
from torch import Tensor

from fidal.gates.thresholds.base import Scores, Threshold, ascending
from fidal.gates.thresholds.otsu import otsu

SMALLEST_VARIANCE = 1e-6


class Gmm(Threshold):
    """The score below which the lower component of a two-component mixture is the likelier one.

    EM starts from Otsu's split, so it is deterministic. Like Otsu it splits a clean pool too.
    """

    name: ClassVar[str] = "gmm"

    def cut(self, scores: Tensor, null: Tensor | None) -> float | None:
        """The null is not looked at. Constant scores give None."""
        pool = ascending(scores)
        start = otsu(pool)
        if start is None:
            return None
        mixture = _fit(pool, start)
        low, high = np.argsort(mixture.means_[:, 0])
        upper = pool[pool <= mixture.means_[high, 0]]
        if len(upper) == 0:
            return None
        foreign = np.flatnonzero(mixture.predict_proba(upper[:, None])[:, low] > 0.5)
        # A component far wider than the other wins again beyond its far side: look from the top.
        return float(np.nextafter(upper[foreign[-1]], 2)) if len(foreign) else None


def _fit(pool: Scores, start: float) -> GaussianMixture:
    halves = [pool[pool < start], pool[pool >= start]]
    spread = [max(half.var(), SMALLEST_VARIANCE) for half in halves]
    return GaussianMixture(
        n_components=2,
        reg_covar=SMALLEST_VARIANCE,
        weights_init=[len(half) / len(pool) for half in halves],
        means_init=[[half.mean()] for half in halves],
        precisions_init=[[[1 / v]] for v in spread],
        init_params="random",
        random_state=0,
    ).fit(pool[:, None])
