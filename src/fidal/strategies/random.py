"""Random: the yardstick, and the warm-up round that all strategies share."""

from typing import ClassVar

import numpy as np

from fidal.strategies.base import Pick, Strategy, random_rows
from fidal.types import Pool


class Random(Strategy):
    """Uniform without replacement. Its purity is the pool's own share of ID images."""

    name: ClassVar[str] = "random"

    def pick(self, pool: Pool, budget: int, rng: np.random.Generator) -> Pick:
        """In: |U| and the generator. Out: a uniformly random subset in random order."""
        return Pick(random_rows(len(pool.ids), budget, rng, like=pool.features))
