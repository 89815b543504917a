"""BADGE (Ash et al., ICLR 2020): k-means++ seeding on the gradients of the last layer."""

from typing import ClassVar

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor

from fidal.neighbours.seeding import Distances, d2_sampling, squared_norms
from fidal.strategies.base import Pick, Strategy
from fidal.types import Pool


class Badge(Strategy):
    """Samples whose gradients under their own pseudo-label are large and differ.

    Global model, closed set. The gradient of x is g = (onehot(argmax p) - p) (x) f, C x d numbers,
    without the bias's, as in the official code. The first pick has the largest |g|, the others are
    drawn by D^2 sampling. Like the official code since 2023, and unlike the one that most ports
    copied, g is never materialised. Where all gradients left are duplicates of chosen ones, the
    official code stops; here the rest is drawn uniformly.
    """

    name: ClassVar[str] = "badge"
    needs: ClassVar[tuple[str, ...]] = ("global_features",)

    def pick(self, pool: Pool, budget: int, rng: np.random.Generator) -> Pick:
        """In: logits and penultimate features of the global model. Out: rows in order of choice."""
        assert pool.global_features is not None
        error = residual(pool.global_logits)
        norms = squared_norms(error) * squared_norms(pool.global_features)  # |g|^2
        distances = gradient_distances(error, pool.global_features)
        rows = d2_sampling(int(norms.argmax()), distances, budget, rng)
        return Pick(rows.to(norms.device), scores={"gradient_norm": norms.sqrt()})


def residual(logits: Tensor) -> Tensor:
    """a = onehot(argmax p) - p: the error of the model if its own answer were right. |U| x C."""
    p = torch.softmax(logits, dim=1)
    return F.one_hot(p.argmax(1), p.shape[1]) - p


def gradient_distances(error: Tensor, features: Tensor) -> Distances:
    """|g_i - g_j|^2 = |a_i|^2 |f_i|^2 + |a_j|^2 |f_j|^2 - 2 (a_i . a_j) (f_i . f_j)."""
    norms = squared_norms(error) * squared_norms(features)

    def distances(rows: Tensor) -> Tensor:
        product = (features[rows] @ features.T).mul_(error[rows] @ error.T)
        return product.mul_(-2).add_(norms).add_(norms[rows, None]).clamp_min_(0)

    return distances
