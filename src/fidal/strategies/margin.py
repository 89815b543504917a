"""Margin: the candidates that the model hesitates to give to one class or another."""

from typing import ClassVar

import numpy as np

from fidal.strategies.base import Pick, Strategy, top
from fidal.types import Pool
from fidal.uncertainty import margin


class Margin(Strategy):
    """The smallest distance between the two largest probabilities of the global model."""

    name: ClassVar[str] = "margin"

    def pick(self, pool: Pool, budget: int, rng: np.random.Generator) -> Pick:
        """In: global logits. Out: rows by falling 1 - (p_first - p_second), which is the score."""
        score = margin(pool.global_logits)
        return Pick(top(score, budget), {"margin": score})
