"""A fixed share of the pool: what one uses who knows the share of outliers."""

from typing import ClassVar

from pydantic import Field
from torch import Tensor

from fidal.gates.thresholds.base import Threshold, ascending


class Percentile(Threshold):
    """Refuse the `share` of the candidates with the lowest scores, ties with the cut kept."""

    name: ClassVar[str] = "percentile"
    share: float = Field(default=0.2, ge=0, lt=1, description="share of the pool to refuse")

    def cut(self, scores: Tensor, null: Tensor | None) -> float | None:
        """The null is not looked at."""
        refused = int(round(self.share * len(scores), 6))  # 0.29 of 100 is 28.999999999999996
        return float(ascending(scores)[refused])
