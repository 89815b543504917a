"""LoGo (Kim et al., CVPR 2023): local clusters, the global model's doubt in each."""

from typing import ClassVar

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor

from fidal.neighbours.clustering import k_means, turns
from fidal.strategies.base import Pick, Strategy
from fidal.types import Pool
from fidal.uncertainty import entropy


class LoGo(Strategy):
    """Macro: k-means with k = B on local embeddings. Micro: per cluster the largest entropy.

    Clusters that ran empty leave the budget short: then the second of each cluster follows, and so
    on, the more uncertain first. LoGo's code trains a local-only model from the initial weights for
    the macro step; here it is the site's own model after its last local epoch, as for all others.
    """

    name: ClassVar[str] = "logo"

    def pick(self, pool: Pool, budget: int, rng: np.random.Generator) -> Pick:
        """In: local logits and h(x), global logits. Out: rows by turn in the cluster, entropy."""
        _, cluster = k_means(local_embedding(pool.local_logits, pool.features), budget, rng)
        score = entropy(pool.global_logits)
        turn = turns(cluster, score).cpu().numpy()
        order = np.lexsort((-score.cpu().numpy(), turn))[:budget]
        return Pick(torch.from_numpy(order).to(score.device), {"entropy": score})


def local_embedding(logits: Tensor, features: Tensor) -> Tensor:
    """(1 - p_max) h(x): BADGE's gradient, cut to the block of the predicted class. Out: n x d."""
    return (1 - F.softmax(logits, dim=1).amax(1, keepdim=True)) * features
