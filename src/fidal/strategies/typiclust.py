"""TypiClust (Hacohen et al., ICML 2022): the most typical image of each uncovered cluster."""

from typing import ClassVar

import numpy as np
import torch
from pydantic import Field
from torch import Tensor

from fidal.neighbours.clustering import k_means, turns
from fidal.neighbours.similarity import nearest
from fidal.strategies.base import Pick, Strategy
from fidal.strategies.representation import representation
from fidal.types import Diagnosis, Pool

SMALL = 5
"""Clusters of at most so many images come last; the official code leaves them out altogether."""


class TypiClust(Strategy):
    """One image from each cluster: those without labels first, then the larger ones.

    k-means splits L_ID and U into |L_ID| + B clusters, so that at least B hold no label; the
    official code stops at 500. Where clusters are fewer than the budget, they take turns. The
    official code computes typicality anew without the images already chosen; here it stays.
    """

    name: ClassVar[str] = "typiclust"
    max_clusters: int = Field(default=500, ge=1, description="most clusters to split into")
    neighbours: int = Field(default=20, ge=1, description="neighbours that typicality counts")

    def pick(self, pool: Pool, budget: int, rng: np.random.Generator) -> Pick:
        """In: g(x), or h(x) without an encoder, of U and L_ID. Out: rows by cluster and turn."""
        candidates, labelled = representation(pool)
        known = len(labelled)
        k = min(known + budget, self.max_clusters)
        _, cluster = k_means(torch.cat([labelled, candidates]), k, rng)
        own = cluster[known:]
        size = torch.bincount(cluster, minlength=k)[own]
        labels = torch.bincount(cluster[:known], minlength=k)[own]
        score = typicality(candidates, own, self.neighbours)
        keys = (own, -size, labels, turns(own, score), size <= SMALL)  # the last one counts most
        order = np.lexsort([key.cpu().numpy() for key in keys])[:budget]
        return Pick(
            torch.from_numpy(order).to(own.device),
            {"typicality": score},
            Diagnosis(terms={"clusters": float((torch.bincount(cluster) > 0).sum())}),
        )


def typicality(features: Tensor, cluster: Tensor, neighbours: int) -> Tensor:
    """1 / mean distance to the nearest neighbours in the own cluster, half of it at most; 0 alone.

    In: unit rows, n x d; clusters, n. Out: n.
    """
    score = features.new_zeros(len(features))
    order = torch.argsort(cluster, stable=True)
    for rows in torch.split(order, torch.bincount(cluster).tolist()):
        count = min(neighbours, len(rows) // 2)
        if count:
            similarity, _ = nearest(features[rows], features[rows], count + 1)
            # The most similar row is the image itself, or its equal.
            distance = (2 - 2 * similarity[:, 1:]).clamp_min(0).sqrt().mean(1)
            score[rows] = 1 / (distance + 1e-5)
    return score
