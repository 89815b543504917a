"""EOAL: sure of the class, far from any one kind of outlier (Safaei et al., AAAI 2024)."""

import math
from typing import ClassVar

import numpy as np
import torch
from pydantic import Field
from torch import Tensor

from fidal.learning.objectives.eoal import EOALObjective
from fidal.learning.objectives.one_vs_all import binary_entropy
from fidal.neighbours.finch import cluster_means, clusters, partitions
from fidal.strategies.base import AnyObjective, Pick, Strategy
from fidal.types import Diagnosis, Pool


class EOAL(Strategy):
    """The smallest s = E_c - E_u among the predicted known, spread over their clusters.

    E_c is the closed-set entropy of the binary heads, E_u the entropy of the distances to the
    clusters of labelled outliers (large: near no single one); both lie in [0, 1], both are of the
    local model. Without labelled outliers s = E_c, as in EOAL's first round.

    EOAL's code goes through the clusters in their accidental order and so gives what is left of
    the budget in the last pass to the first of them; here the last pass goes by s.
    """

    name: ClassVar[str] = "eoal"
    objective: AnyObjective = Field(
        default=EOALObjective(), description="extra heads of the network and the training loss"
    )

    def pick(self, pool: Pool, budget: int, rng: np.random.Generator) -> Pick:
        """Predicted known by cluster quota; if they are too few, the rejected by smallest s."""
        closed = binary_entropy(pool.outputs["binary"]) / math.log(2)
        outlying = outlier_entropy(
            pool.features, pool.outliers.features, classes=pool.global_logits.shape[1]
        )
        score = closed - outlying
        detector = pool.outputs["detector"]
        known = detector.argmax(1) < detector.shape[1] - 1
        rows = torch.cat([_spread(pool.features, score, known, budget), _smallest(score, ~known)])
        return Pick(
            rows=rows[:budget],
            scores={"closed_entropy": closed, "outlier_entropy": outlying, "score": score},
            diagnosis=Diagnosis(
                filled=max(0, budget - int(known.sum())),
                terms={"share_predicted_known": float(known.double().mean())},
            ),
        )


def outlier_entropy(features: Tensor, outliers: Tensor, classes: int) -> Tensor:
    """E_u = H(softmax_j(-||f - mu_j||)) / log k over the k <= C clusters of labelled outliers.

    In: n x d, m x d. Out: n, in [0, 1]; zero where fewer than two clusters leave no entropy.
    """
    if len(outliers) == 0:
        return features.new_zeros(len(features))
    centres = cluster_means(outliers, clusters(outliers, classes))
    if len(centres) == 1:
        return features.new_zeros(len(features))
    distance = torch.cdist(features, centres, compute_mode="donot_use_mm_for_euclid_dist")
    log_p = torch.log_softmax(-distance, dim=1)
    return -(log_p.exp() * log_p).sum(1) / math.log(len(centres))


def _smallest(score: Tensor, among: Tensor) -> Tensor:
    """The rows where `among` holds, by ascending score; ties in the order of the rows."""
    order = torch.sort(score, stable=True).indices
    return order[among[order]]


def _spread(features: Tensor, score: Tensor, known: Tensor, budget: int) -> Tensor:
    """Rows of the known, the same quota of smallest s from each cluster, pass after pass.

    The clusters are the finest FINCH partition with at most `budget` of them. A quota of at least
    one, as no cluster is empty, is why EOAL's endless loop for quota zero cannot occur.
    """
    rows = _smallest(score, known)
    if len(rows) == 0:
        return rows
    cluster = next(c for c in partitions(features[rows]) if int(c.max()) < budget)
    quota = min(budget, len(rows)) // (int(cluster.max()) + 1)
    by_cluster = torch.sort(cluster, stable=True)  # within a cluster still by ascending s
    first = torch.searchsorted(by_cluster.values, by_cluster.values)
    place = torch.empty_like(cluster)
    place[by_cluster.indices] = torch.arange(len(rows), device=rows.device) - first
    return rows[torch.sort(place // quota, stable=True).indices]
