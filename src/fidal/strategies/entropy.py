"""Entropy: the candidates on whose class the model is least decided."""

from typing import ClassVar

import numpy as np

from fidal.strategies.base import Pick, Strategy, top
from fidal.types import Pool
from fidal.uncertainty import entropy


class Entropy(Strategy):
    """The largest -sum_c p_c log p_c of the global model. Closed set: it likes outliers."""

    name: ClassVar[str] = "entropy"

    def pick(self, pool: Pool, budget: int, rng: np.random.Generator) -> Pick:
        """In: global logits. Out: rows by falling entropy."""
        score = entropy(pool.global_logits)
        return Pick(top(score, budget), {"entropy": score})
