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

    A candidate's conformal p-value is its rank among the n labelled ID images, its share of ID
    images pi0 follows from the upper half of the p-values (`id_share`), and the cut is where the
    Grenander density f of all p-values falls to pi0 / level. As the slope of the least concave
    majorant, f is above a constant c exactly up to the maximum of F(p) - c p; no density needs
    to be computed. F is constant between two labelled images, so only their scores can be cuts.

    Two guards, since n is small. The cut's conformal ID loss, its own p-value, is at most
    `max_id_loss`. And there is a cut at all only if some p-value is so frequent that sampling of
    the n images does not explain it, with `confidence`: a clean pool then loses nothing.
    """

    name: ClassVar[str] = "known-null"
    needs_null: ClassVar[bool] = True
    level: float = Field(default=0.5, gt=0, le=1, description="refuse where P(ID | score) is below")
    max_id_loss: float = Field(
        default=0.1, gt=0, le=1, description="largest expected share of the ID images refused"
    )
    confidence: float = Field(
        default=0.9, ge=0, lt=1, description="that there are outliers at all; 0 = do not ask"
    )

    def cut(self, scores: Tensor, null: Tensor | None) -> float | None:
        """None without a null, where outliers are not evident, or where refusing does not pay."""
        if null is None:
            return None
        known, pool = ascending(null), ascending(scores)
        n = len(known)
        below = np.searchsorted(known, known)
        loss = (below + 1) / (n + 1)
        affordable = loss <= self.max_id_loss
        known, below, loss = known[affordable], below[affordable], loss[affordable]
        refused = np.searchsorted(pool, known) / len(pool)
        price = id_share(pool, ascending(null)) / self.level
        evident = refused > price * beta.ppf(self.confidence, below + 1, n - below)
        if not evident.any():
            return None
        gain = refused - price * loss
        best = int(gain.argmax())
        return float(known[best]) if gain[best] > 0 else None

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
