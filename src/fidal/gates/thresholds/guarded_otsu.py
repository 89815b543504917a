"""Otsu where there is something to cut: not on a pool that looks clean, and at a bounded price."""

from typing import ClassVar

import numpy as np
from pydantic import Field
from torch import Tensor

from fidal.gates.thresholds.base import Threshold, ascending
from fidal.gates.thresholds.known_null import KnownNull
from fidal.gates.thresholds.otsu import otsu


class GuardedOtsu(Threshold):
    """Otsu's cut, with what the labelled ID images know of it.

    Otsu splits the pool well where it holds many outliers, and splits a clean one as well. So it
    is asked only if known-null finds outliers evident, and its cut's conformal ID loss is capped.
    """

    name: ClassVar[str] = "guarded-otsu"
    max_id_loss: float = Field(
        default=0.15, gt=0, le=1, description="largest expected share of the ID images refused"
    )
    confidence: float = Field(
        default=0.9, ge=0, lt=1, description="that there are outliers at all; 0 = do not ask"
    )

    def cut(self, scores: Tensor, null: Tensor | None) -> float | None:
        """Plain Otsu without a null; None where outliers are not evident."""
        cut = otsu(ascending(scores))
        if null is None or cut is None:
            return cut
        guard = KnownNull(max_id_loss=self.max_id_loss, confidence=self.confidence)
        if guard.cut(scores, null) is None:
            return None
        known = ascending(null)
        # Refused is what lies below the i-th smallest of n: (i + 1) / (n + 1) of the ID images.
        highest = int(np.floor(self.max_id_loss * (len(known) + 1))) - 1
        return min(cut, float(known[max(highest, 0)]))

    def caution(self, n_null: int) -> tuple[str, ...]:
        """That of known-null: it decides whether there is a cut at all."""
        return KnownNull(max_id_loss=self.max_id_loss, confidence=self.confidence).caution(n_null)
