"""Mean and spread over seeds. A missing seed stays visible: it is counted, never averaged away."""

import math
from dataclasses import dataclass
from typing import Self

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Spread:
    """Of one number over the seeds that have it."""

    mean: float
    std: float
    """Sample standard deviation (n - 1); NaN below two seeds."""
    seeds: int
    """So many seeds have the number."""
    of: int
    """So many seeds were expected."""
    round: int | None = None
    """The AL round, where a table must say it because every method has its own."""

    @classmethod
    def over(cls, values: Floats) -> Self:
        """In: one value per expected seed, NaN where there is none."""
        there = values[np.isfinite(values)]
        mean = float(there.mean()) if len(there) else math.nan
        std = float(there.std(ddof=1)) if len(there) > 1 else math.nan
        return cls(mean, std, len(there), len(values))

    def text(self, digits: int = 1, scale: float = 1.0) -> str:
        """`37.3 ± 1.2`; with `[2/3]` behind it where only 2 of 3 seeds have it, `–` for none."""
        if not self.seeds:
            return "–"
        spread = "" if math.isnan(self.std) else f" ± {self.std * scale:,.{digits}f}"
        short = "" if self.seeds == self.of else f" [{self.seeds}/{self.of}]"
        round = "" if self.round is None else f" (R{self.round})"
        return f"{self.mean * scale:,.{digits}f}{spread}{short}{round}"
