"""PAL: informative ID by most of the budget, valuable outliers by the rest (Yang et al., 2023)."""

from typing import ClassVar

import numpy as np
import torch
from pydantic import Field
from torch import Tensor

from fidal.learning.objectives.one_vs_all import log_probabilities
from fidal.learning.objectives.pal import PALObjective
from fidal.strategies.base import AnyObjective, Pick, Strategy
from fidal.types import Diagnosis, Pool


class PAL(Strategy):
    """Un = w + miu S_ID of the local model's meta and open heads and the site's WNet.

    For candidates whose meta head predicts the class C ("pseudo-OOD") Un = w + miu (1 - S_ID).
    The pseudo-ID of largest Un fill 29 of every 30 places, the pseudo-OOD of smallest Un the
    other (1450 and 50 of PAL's 1500). Its code asks for a smaller batch where it finds too few
    pseudo-ID; here the largest remaining Un fill the budget.

    A site that knows no outlier yet follows PAL's first round: the 80 % of smallest and 20 % of
    largest Un (1200 and 300 of 1500). PAL has a meta head of C outputs then; ours has C + 1 and
    its last one is ignored, so that every candidate counts as pseudo-ID. After a random warm-up
    most sites know outliers and skip that round.
    """

    name: ClassVar[str] = "pal"
    objective: AnyObjective = Field(
        default=PALObjective(), description="extra heads of the network and the training loss"
    )
    miu: float = Field(default=0.6, ge=0, description="weight of S_ID; PAL's README, code: 1.0")
    id_share: float = Field(default=29 / 30, ge=0, le=1, description="places for pseudo-ID")
    first_share: float = Field(
        default=0.8, ge=0, le=1, description="places for the smallest Un while no outlier is known"
    )

    def pick(self, pool: Pool, budget: int, rng: np.random.Generator) -> Pick:
        """See the class; ties in the order of the ids."""
        weight = pool.outputs["weight"].squeeze(1)
        similarity = id_score(pool.outputs["open"])
        meta = pool.outputs["meta"]
        first = len(pool.outliers.features) == 0
        pseudo_ood = (meta.argmax(1) == meta.shape[1] - 1) & (not first)
        un = weight + self.miu * torch.where(pseudo_ood, 1 - similarity, similarity)
        if first:
            planned = _ends(un, smallest=round(budget * self.first_share), budget=budget)
        else:
            planned = _quota(un, pseudo_ood, n_id=round(budget * self.id_share), budget=budget)
        rest = torch.sort(un, descending=True, stable=True).indices
        rest = rest[~torch.isin(rest, planned)]
        return Pick(
            rows=torch.cat([planned, rest])[:budget],
            scores={"weight": weight, "similarity_id": similarity, "score": un},
            diagnosis=Diagnosis(
                filled=budget - len(planned),
                terms={"share_pseudo_ood": float(pseudo_ood.double().mean())},
                notes=("first round of PAL: no labelled outlier yet",) if first else (),
            ),
        )


def id_score(open_logits: Tensor) -> Tensor:
    """S_ID = 2.5 (1 + q log q), q = max_c p_c(0). In: n x 2(C+1). Out: n, in [1.58, 2.5].

    As in PAL's code: q is the surest "not class c", which is near 1 for most candidates.
    """
    log_q = log_probabilities(open_logits)[:, 0].amax(1)
    return 2.5 * (1 + log_q.exp() * log_q)


def _ends(un: Tensor, smallest: int, budget: int) -> Tensor:
    """The `smallest` rows of smallest Un, then the largest up to the budget."""
    ascending = torch.sort(un, stable=True).indices
    descending = torch.sort(un, descending=True, stable=True).indices
    head = ascending[:smallest]
    tail = descending[~torch.isin(descending, head)]
    return torch.cat([head, tail[: budget - smallest]])


def _quota(un: Tensor, pseudo_ood: Tensor, n_id: int, budget: int) -> Tensor:
    """The `n_id` pseudo-ID of largest Un, then the pseudo-OOD of smallest Un; maybe too few."""
    ascending = torch.sort(un, stable=True).indices
    descending = torch.sort(un, descending=True, stable=True).indices
    return torch.cat(
        [
            descending[~pseudo_ood[descending]][:n_id],
            ascending[pseudo_ood[ascending]][: budget - n_id],
        ]
    )
