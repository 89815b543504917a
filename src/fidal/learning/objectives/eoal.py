"""EOAL's losses: detector, entropic one-vs-all and clustered outliers (Safaei et al., AAAI 2024).

L = L_cls + L_xent + L_open + 0.1 L_reg
"""

from collections.abc import Mapping
from typing import ClassVar

import torch
import torch.nn.functional as F
from pydantic import Field
from torch import Tensor, nn

from fidal.learning.objectives.base import Batch, Companion, Context, Objective, Optimiser
from fidal.learning.objectives.cross_entropy import classification_loss
from fidal.learning.objectives.detector import detection_loss
from fidal.learning.objectives.one_vs_all import log_probabilities, one_vs_all_loss
from fidal.neighbours.finch import cluster_means, clusters
from fidal.types import OUTLIER, Outputs

PULL = 0.1
"""Weight of the distance to the own centre inside L_reg."""


def indecision_loss(binary: Tensor) -> Tensor:
    """-1/C sum_c [log p_c(1) + log p_c(0)]: least where every classifier says 50:50.

    In: n x 2C. Out: n.
    """
    return -log_probabilities(binary).sum(1).mean(1)


def cluster_loss(features: Tensor, centres: Tensor, own: Tensor) -> Tensor:
    """0.1 d_own + log(1 + sum_{j != own} exp(d_own - d_j)), d_j = ||f - mu_j||.

    The second part is the cross-entropy of logits -d at the own cluster: there the 1 is j = own.
    In: n x d, K x d, n. Out: n.
    """
    distance = torch.linalg.vector_norm(features[:, None] - centres, dim=2)
    pull: Tensor = distance.gather(1, own[:, None]).squeeze(1)
    return PULL * pull + F.cross_entropy(-distance, own, reduction="none")


def outlier_mean(each: Tensor, labels: Tensor) -> Tensor:
    """Mean over the batch's outliers; zero without any."""
    outlier = labels == OUTLIER
    return torch.where(outlier, each, 0).sum() / outlier.sum().clamp_min(1)


class EOALObjective(Objective):
    """Losses of EOAL on one backbone with three heads; EOAL itself trains two networks.

    Where the site has outliers, the one-vs-all loss on ID counts 1 - alpha and the outliers are
    asked for maximum entropy. EOAL's code swaps the names of the two outlier terms, harmlessly:
    they are summed. It adds 1e-8 inside each logarithm; ours are log-softmaxes and need none.
    """

    name: ClassVar[str] = "eoal"
    includes_outliers: ClassVar[bool] = True
    outputs: ClassVar[tuple[str, ...]] = ("detector", "binary")
    needs_epoch_features: ClassVar[bool] = True

    temperature: float = Field(default=0.5, gt=0, description="of the detector's softmax")
    alpha: float = Field(default=0.8, ge=0, le=1, description="weight of the outliers' entropy")
    reg_weight: float = Field(default=0.1, ge=0, description="weight of L_reg")
    lr: float = Field(default=1e-2, gt=0, description="of its own SGD")
    weight_decay: float = Field(default=5e-4, ge=0, description="of its own SGD")

    @property
    def optimiser(self) -> Optimiser:
        """SGD with momentum 0.9, halved every 60 rounds (the paper's supplement S2, EOAL's code).

        EOAL's code leaves its binary heads out of the schedule; here all heads follow one.
        """
        return Optimiser(
            kind="sgd", lr=self.lr, momentum=0.9, weight_decay=self.weight_decay, step=60, gamma=0.5
        )

    def heads(self, width: int, classes: int) -> dict[str, nn.Module]:
        """`detector`: n x (C+1). `binary`: n x 2C, see `one_vs_all.log_probabilities`."""
        return {
            "detector": nn.Linear(width, classes + 1),
            "binary": nn.Linear(width, 2 * classes, bias=False),
        }

    def begin_epoch(self, outlier_features: Tensor, classes: int) -> Mapping[str, Tensor]:
        """K <= C clusters of h(L_OOD): `centres`, K x d, and the `cluster` of each outlier."""
        if len(outlier_features) == 0:
            return {}
        cluster = clusters(outlier_features, classes)
        return {"centres": cluster_means(outlier_features, cluster), "cluster": cluster}

    def loss(
        self, outputs: Outputs, batch: Batch, context: Context, companion: Companion | None = None
    ) -> Tensor:
        """L as in the head of this file; L_reg needs outliers at the site."""
        labels, binary = batch.labels, outputs.heads["binary"]
        total = classification_loss(outputs.logits, labels, context) + detection_loss(
            outputs.heads["detector"], labels, self.temperature
        )
        if context.n_outliers == 0:
            return total + one_vs_all_loss(binary, labels) / 2
        open_loss = (1 - self.alpha) * one_vs_all_loss(binary, labels) + self.alpha * outlier_mean(
            indecision_loss(binary), labels
        )
        own = context.state["cluster"][torch.where(labels == OUTLIER, batch.rows, 0)]
        reg = cluster_loss(outputs.features, context.state["centres"].to(outputs.features), own)
        return total + open_loss / 2 + self.reg_weight * outlier_mean(reg, labels)
