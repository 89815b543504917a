"""FEAL's evidential loss (Chen et al., CVPR 2024): the logits are evidence for a Dirichlet."""

import math
from collections.abc import Mapping
from typing import ClassVar, Final

import torch
import torch.nn.functional as F
from pydantic import Field
from torch import Tensor

from fidal.learning.objectives.base import Batch, Companion, Context, Objective
from fidal.learning.objectives.cross_entropy import class_weights
from fidal.types import Outputs
from fidal.uncertainty import Activation, dirichlet, dirichlet_entropy

EVIDENCE: Final[Activation] = "relu"
"""FEAL's activation; its strategy must read the logits as its loss trained them."""

GRID = 3
"""Side of the pooled feature map that FEAL compares candidates on."""


class Evidential(Objective):
    """L = L_ce + kl_weight (min(1, t / annealing) L_kl + L_cor), over the batch's ID images.

    With ReLU evidence the true class is often dead early on and only L_cor revives it. Where few
    epochs are trained, or a linear probe, the accuracy collapses: so it does in the paper's table.
    """

    name: ClassVar[str] = "evidential"
    outputs: ClassVar[tuple[str, ...]] = ("spatial",)
    kl_weight: float = Field(default=0.01, ge=0, description="lambda, of L_kl and of L_cor")
    annealing: int = Field(
        default=10, ge=1, description="communication rounds until L_kl has its full weight"
    )

    def loss(
        self, outputs: Outputs, batch: Batch, context: Context, companion: Companion | None = None
    ) -> Tensor:
        """Mean over labels 0..C-1; OUTLIER and UNLABELLED do not count. Zero without any."""
        known = batch.labels >= 0
        target = batch.labels.clamp_min(0)
        logits = outputs.logits.double()
        alpha = dirichlet(logits, EVIDENCE)
        weight = class_weights(context).to(logits)[target]
        ramp = torch.as_tensor(context.round / self.annealing, dtype=torch.float64).clamp_max(1)
        each = weight * bayes_risk(alpha, target) + self.kl_weight * (
            ramp * wrong_evidence(alpha, target) + correction(logits, alpha, target)
        )
        mean = torch.where(known, each, 0).sum() / known.sum().clamp_min(1)
        return mean.to(outputs.logits.dtype)

    def pool_outputs(self, outputs: Outputs, companion: Companion | None) -> Mapping[str, Tensor]:
        """`spatial`: the last feature map pooled to 3 x 3, flattened; h(x) where there is none."""
        if outputs.spatial is None:
            return {"spatial": outputs.features}
        return {"spatial": F.adaptive_avg_pool2d(outputs.spatial, GRID).flatten(1)}


def bayes_risk(alpha: Tensor, target: Tensor) -> Tensor:
    """L_ce without class weight: E[-log p_y] = psi(S) - psi(alpha_y). In: n x C, n. Out: n."""
    of_target = alpha.gather(1, target[:, None]).squeeze(1)
    return torch.digamma(alpha.sum(1)) - torch.digamma(of_target)


def wrong_evidence(alpha: Tensor, target: Tensor) -> Tensor:
    """L_kl: KL(Dir(alpha~) || Dir(1)), alpha~ = alpha but 1 at the target. In: n x C, n. Out: n.

    Dir(1) has the constant density Gamma(C), so this is -entropy(alpha~) - log Gamma(C).
    """
    others = alpha.scatter(1, target[:, None], 1.0)
    return -dirichlet_entropy(others) - math.lgamma(alpha.shape[1])


def correction(logits: Tensor, alpha: Tensor, target: Tensor) -> Tensor:
    """L_cor: -(C / S) logit_y with S held fixed, a gradient where ReLU gives none. Out: n."""
    of_target = logits.gather(1, target[:, None]).squeeze(1)
    return -alpha.shape[1] / alpha.sum(1).detach() * of_target
