"""FEAL (Chen et al., CVPR 2024): evidential uncertainty of two models, then diversity."""

from typing import ClassVar

import numpy as np
import torch
from pydantic import Field

from fidal.learning.objectives.evidential import EVIDENCE, Evidential
from fidal.neighbours.relaxation import relax
from fidal.neighbours.similarity import unit
from fidal.strategies.base import AnyObjective, Pick, Strategy, top
from fidal.types import Diagnosis, Pool
from fidal.uncertainty import calibrated


class FEAL(Strategy):
    """Stage 1 ranks by the calibrated uncertainty of Eq. 3; stage 2 skips near-duplicates of it.

    As in FEAL's code the epistemic term is the Dirichlet entropy, min-max scaled over the pool.
    Where the walk of stage 2 ends short of the budget, the code fills up in the order in which a
    set happens to be listed; here the most uncertain of those skipped fill it.
    """

    name: ClassVar[str] = "feal"
    objective: AnyObjective = Field(
        default=Evidential(), description="extra heads of the network and the training loss"
    )
    neighbours: int = Field(default=5, ge=1, description="n, the neighbours of a candidate")
    cosine: float = Field(default=0.85, ge=-1, le=1, description="similarity above which they are")

    def pick(self, pool: Pool, budget: int, rng: np.random.Generator) -> Pick:
        """In: logits of both models, the local model's feature map. Out: rows as accepted."""
        score = calibrated(pool.global_logits, pool.local_logits, EVIDENCE, "entropy")
        order = top(score, len(score))
        features = unit(pool.outputs["spatial"])
        accepted, visited = relax(features, order, budget, self.neighbours, self.cosine)
        skipped = order[~torch.isin(order, accepted)]
        return Pick(
            torch.cat([accepted, skipped])[:budget],
            {"uncertainty": score},
            Diagnosis(filled=budget - len(accepted), terms={"visited": float(visited)}),
        )
