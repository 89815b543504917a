"""CoreSet (Sener & Savarese, ICLR 2018): greedy k-centre in feature space."""

from typing import ClassVar

import numpy as np
import torch
from torch import Tensor

from fidal.neighbours.seeding import Distances, k_centre, squared_norms
from fidal.neighbours.similarity import products
from fidal.strategies.base import Pick, Strategy
from fidal.types import Pool


class CoreSet(Strategy):
    """Again and again the candidate that lies farthest from all labelled and chosen ones.

    Euclidean distance between h(x) of the local model; the labelled ID images are the centres to
    begin with. Closed set: an outlier lies far away and is chosen early. This is the greedy
    2-approximation that nearly everybody runs; the official code goes on to improve it with a
    commercial mixed-integer solver. Without a labelled image, where others begin with the first
    candidate or a random one, this begins with the one nearest to the pool's mean.
    """

    name: ClassVar[str] = "coreset"

    def pick(self, pool: Pool, budget: int, rng: np.random.Generator) -> Pick:
        """In: h(x) of U and L_ID. Out: rows in order of choice; score: distance to L_ID."""
        nearest = from_labelled(pool.features, pool.labelled.features)
        rows = k_centre(nearest, feature_distances(pool.features), budget)
        scores = {"distance": nearest.sqrt()} if len(pool.labelled.features) else {}
        return Pick(rows.to(nearest.device), scores)


def from_labelled(features: Tensor, labelled: Tensor) -> Tensor:
    """Squared distance to the nearest labelled image; without one, what makes k-centre begin with
    the candidate nearest to the mean. In: n x d and m x d. Out: n.
    """
    if len(labelled) == 0:
        start = (features - features.mean(0)).square().sum(1).argmin()
        nearest = torch.full_like(features[:, 0], torch.finfo(features.dtype).max)
        nearest[start] = torch.inf
        return nearest
    # |x - c|^2 = |x|^2 - 2 (x . c - |c|^2 / 2), so the nearest c has the largest bracket.
    half, bracket = squared_norms(labelled) / 2, features.new_empty(len(features))
    for rows, product in products(features, labelled):
        torch.amax(product.sub_(half), dim=1, out=bracket[rows])
    return (squared_norms(features) - 2 * bracket).clamp_min(0)


def feature_distances(features: Tensor) -> Distances:
    """|x_i - x_j|^2 = |x_i|^2 + |x_j|^2 - 2 x_i . x_j."""
    norms = squared_norms(features)

    def distances(rows: Tensor) -> Tensor:
        product = features[rows] @ features.T
        return product.mul_(-2).add_(norms).add_(norms[rows, None]).clamp_min_(0)

    return distances
