"""Known-null: the one threshold that knows what labelled ID images score, so it can abstain."""

from typing import ClassVar

import numpy as np
from pydantic import Field
from scipy.stats import beta
from torch import Tensor

from fidal.gates.thresholds.base import Scores, Threshold, ascending

STOREY_LAMBDA = 0.5
VISIBLE_SHARE = 0.05


class KnownNull(Threshold):
    """Refuse where P(ID | score) < level, calibrated on cross-fitted scores of labelled ID images.

    The n scores of labelled ID images part the axis into strips. The cut climbs from one of these
    scores to a higher one if what lies between is evidently foreign: the candidates there are more
    than 1 / level times the ID images that can be there, which are the share pi0 of the candidates
    (`id_share`) times the share of all ID images in s neighbouring strips, a Beta(s, n + 1 - s)
    variable, at its `confidence` quantile. So a clean pool loses nothing, and chance does not carry
    the cut on into the ID images where the outliers end: with 40 % far outliers and n = 100 it
    takes 1.1 % of them, where the cut of largest gain (Grenander's estimate) takes 2.3 %.

    The cut's expected ID loss, its conformal p-value (i + 1) / (n + 1), is at most `max_id_loss`.
    """

    name: ClassVar[str] = "known-null"
    needs_null: ClassVar[bool] = True
    level: float = Field(default=0.5, gt=0, le=1, description="refuse where P(ID | score) is below")
    max_id_loss: float = Field(
        default=0.1, gt=0, le=1, description="largest expected share of the ID images refused"
    )
    confidence: float = Field(
        default=0.9,
        ge=0,
        lt=1,
        description="that what is refused is foreign; 0 = refuse up to max_id_loss in any case",
    )

    def cut(self, scores: Tensor, null: Tensor | None) -> float | None:
        """None without a null, and where outliers are not evident."""
        if null is None:
            return None
        known, pool = ascending(null), ascending(scores)
        n = len(known)
        below = np.searchsorted(known, known)
        refused = np.searchsorted(pool, known) / len(pool)
        strips = np.arange(1, n + 1)
        id_images = id_share(pool, known) * beta.ppf(self.confidence, strips, n + 1 - strips)
        best, refused_there, below_there = None, 0.0, -1
        for i in np.flatnonzero((below + 1) / (n + 1) <= self.max_id_loss):
            crossed = below[i] - below_there
            foreign = refused[i] - refused_there > id_images[crossed - 1] / self.level
            if crossed > 0 and foreign:
                best, refused_there, below_there = float(known[i]), refused[i], below[i]
        return best

    def caution(self, n_null: int) -> tuple[str, ...]:
        """Few labelled ID images cannot show a small share of outliers."""
        excess = float(beta.ppf(self.confidence, 1, max(n_null, 1))) / self.level
        visible = excess / (1 + excess)
        if visible <= VISIBLE_SHARE:
            return ()
        return (
            f"too few labelled ID images ({n_null}) for small p-values: known-null overlooks "
            f"outliers that are less than about {visible:.0%} of the pool",
        )


def id_share(pool: Scores, null: Scores) -> float:
    """Storey's pi0: candidates with p > 1/2, over how many there would be if all were ID.

    In: sorted scores. Out: share in [0, 1]. Outliers with p > 1/2 make it too large, so the
    share of outliers, one minus it, errs on the low side.
    """
    n = len(null)
    p = (1 + np.searchsorted(null, pool, side="right")) / (n + 1)
    under_null = np.arange(1, n + 2) / (n + 1)
    share = (p > STOREY_LAMBDA).mean() / (under_null > STOREY_LAMBDA).mean()
    return min(float(share), 1.0)
