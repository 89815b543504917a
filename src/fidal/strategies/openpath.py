"""OpenPath*: text prompts and class prototypes admit, entropy chooses (Zhong et al., 2025)."""

import math
from typing import ClassVar

import numpy as np
import torch
from pydantic import Field
from torch import Tensor

from fidal.neighbours.similarity import max_similarity, unit
from fidal.strategies.base import Pick, Strategy, random_rows
from fidal.types import Diagnosis, Labelled, Pool, Prompts
from fidal.uncertainty import entropy


class OpenPath(Strategy):
    """The federated form of the paper's supplement S2: each site gates its own pool.

    Candidates are those whose best prompt describes a class (VLM-ID) and whose global feature is
    among the quarter of U nearest to a prototype of a labelled class (PIS). Of ten random chunks
    of them, the global model's highest entropies are queried (EGSS, the paper's; OpenPath's code
    runs K-means instead and computes an entropy that it never uses).

    Too few candidates: the prototypes are waived, then the nearest to one fill the budget. No
    labelled ID image, so no prototype: VLM-ID at random, then the rest at random; OpenPath's
    K-means cold start has no place here, since all strategies share a random warm-up.
    """

    name: ClassVar[str] = "openpath"
    needs: ClassVar[tuple[str, ...]] = ("prompts", "global_features")
    near_share: float = Field(default=0.25, gt=0, le=1, description="of U that PIS lets through")
    chunks: int = Field(default=10, ge=1, description="random chunks of EGSS")

    def pick(self, pool: Pool, budget: int, rng: np.random.Generator) -> Pick:
        """See the class."""
        assert pool.prompts is not None and pool.global_features is not None
        vlm_id = described(pool.prompts)
        terms = {"share_vlm_id": float(vlm_id.double().mean())}
        if len(pool.labelled.labels) == 0:
            shuffled = random_rows(len(pool.ids), len(pool.ids), rng, like=vlm_id)
            rows = torch.cat([shuffled[vlm_id[shuffled]], shuffled[~vlm_id[shuffled]]])
            filled, note = max(0, budget - int(vlm_id.sum())), "random: no labelled ID image yet"
            return Pick(rows[:budget], {}, Diagnosis(filled=filled, terms=terms, notes=(note,)))
        distance = prototype_distance(pool.global_features, prototypes(pool.labelled, pool.site))
        doubt = entropy(pool.global_logits)
        near = distance <= distance.kthvalue(math.ceil(self.near_share * len(distance))).values
        both = vlm_id & near
        allowed = both if int(both.sum()) >= budget else vlm_id
        rows = egss(allowed.nonzero().squeeze(1), doubt, budget, self.chunks, rng)
        by_distance = torch.sort(distance, stable=True).indices
        rows = torch.cat([rows, by_distance[~allowed[by_distance]]])[:budget]
        return Pick(
            rows=rows,
            scores={"distance": distance, "entropy": doubt},
            diagnosis=Diagnosis(
                filled=int((~both[rows]).sum()),
                terms={**terms, "share_candidates": float(both.double().mean())},
            ),
        )


def described(prompts: Prompts) -> Tensor:
    """Is the most similar prompt one of a class? In: |U| x P. Out: |U|, bool."""
    in_distribution = torch.tensor(prompts.in_distribution, device=prompts.logits.device)
    return in_distribution[prompts.logits.argmax(1)]


def prototypes(labelled: Labelled, site: str) -> Tensor:
    """Mean global feature of each class that has labelled images. Out: classes present x d."""
    if labelled.global_features is None:
        raise ValueError(
            f"site '{site}': strategy 'openpath' needs labelled.global_features, which is absent; "
            f"give the global model's features of the {len(labelled.labels)} labelled images"
        )
    return torch.stack(
        [
            labelled.global_features[labelled.labels == c].mean(0)
            for c in torch.unique(labelled.labels)
        ]
    )


def prototype_distance(features: Tensor, centres: Tensor) -> Tensor:
    """d_i = min_c 1 - cos(z_i, centre_c). In: n x d, K x d. Out: n."""
    return 1 - max_similarity(unit(features), unit(centres))


def egss(
    candidates: Tensor, doubt: Tensor, budget: int, chunks: int, rng: np.random.Generator
) -> Tensor:
    """Entropy-guided stochastic sampling: the budget split evenly over random chunks.

    In: rows of candidates, the entropy of all rows. Out: min(budget, candidates) rows, each among
    the highest entropies of its chunk; highest first.
    """
    budget = min(budget, len(candidates))
    shuffled = candidates[random_rows(len(candidates), len(candidates), rng, like=candidates)]
    chosen = []
    for j, chunk in enumerate(shuffled.tensor_split(chunks)):
        quota = budget // chunks + (j < budget % chunks)  # never above len(chunk), split alike
        chosen.append(chunk[doubt[chunk].argsort(descending=True, stable=True)[:quota]])
    rows = torch.cat(chosen)
    return rows[doubt[rows].argsort(descending=True, stable=True)]
