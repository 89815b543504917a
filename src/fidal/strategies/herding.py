"""Uncertainty herding (Bae et al., ICLR 2025): cover what is uncertain."""

from typing import ClassVar

import numpy as np
import torch
from pydantic import Field

from fidal.neighbours.herding import adaptive_bandwidth, herd, kernel
from fidal.neighbours.similarity import max_similarity
from fidal.strategies.base import Pick, Strategy
from fidal.strategies.representation import representation
from fidal.types import Diagnosis, Pool
from fidal.uncertainty import margin


class Herding(Strategy):
    """Greedy maximum of sum_j u_j max_i k(x_i, x_j), i over labelled and chosen, k a Gaussian.

    u is the margin uncertainty of the global model; without labels it is 1 everywhere, which is
    MaxHerding. Its temperature is 1: the official code fits it on a validation set, which a site
    does not have. Closed set: labelled outliers cover nothing.
    """

    name: ClassVar[str] = "herding"
    bandwidth: float | None = Field(
        default=None,
        gt=0,
        description="of the kernel; by default the smallest distance between two labelled images",
    )

    def pick(self, pool: Pool, budget: int, rng: np.random.Generator) -> Pick:
        """In: g(x), or h(x) without an encoder, of U and L_ID; global logits. Out: greedy order."""
        candidates, labelled = representation(pool)
        bandwidth = self.bandwidth or adaptive_bandwidth(labelled)
        if len(labelled):
            doubt = margin(pool.global_logits).to(candidates.dtype)
            covered = kernel(max_similarity(candidates, labelled), bandwidth)
        else:
            doubt = candidates.new_ones(len(candidates))
            covered = torch.zeros_like(doubt)
        rows = herd(candidates, doubt, covered, bandwidth, budget)
        return Pick(
            rows,
            {"uncertainty": doubt, "covered": covered},
            Diagnosis(terms={"bandwidth": bandwidth}),
        )
