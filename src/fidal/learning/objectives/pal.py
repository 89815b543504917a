"""PAL's losses and its weighting network (Yang et al., "Not All Out-of-Distribution Data Are
Harmful to Open-Set Active Learning", NeurIPS 2023).

    L = L_cls + L_meta + kappa (sum_i w_i h_i / sum_i w_i + L_o)

L_meta: cross-entropy over C + 1 classes; L_o: one-vs-all over the same; both on ID and outliers.
h_i: the open head's entropy on the unlabelled image i; w_i: WNet's weight of it, from the open
head's logits.
"""

from collections.abc import Mapping
from typing import ClassVar

import torch
from pydantic import Field
from torch import Tensor, nn, optim
from torch.func import functional_call

from fidal.learning.objectives.base import Batch, Companion, Context, Objective
from fidal.learning.objectives.cross_entropy import classification_loss
from fidal.learning.objectives.detector import detection_loss, detector_targets
from fidal.learning.objectives.one_vs_all import (
    binary_entropy,
    log_probabilities,
    one_vs_all_loss,
)
from fidal.types import UNLABELLED, Outputs

HIDDEN = 512


def ramp(context: Context) -> Tensor:
    """kappa(t) = exp(-5 (1 - t/T)^2): from 0.007 in the first communication round towards 1."""
    t = torch.as_tensor(context.round / context.rounds, dtype=torch.float64)
    return torch.exp(-5 * (1 - t) ** 2)


def open_loss(open_logits: Tensor, labels: Tensor, weight: Tensor) -> Tensor:
    """What kappa multiplies: sum_i w_i h_i / sum_i w_i of the unlabelled + L_o of the labelled.

    In: n x 2(C+1), n, and WNet's weights, n x 1, of which only those of UNLABELLED images count.
    """
    w = torch.where(labels == UNLABELLED, weight.squeeze(1), 0)
    total = w.sum()
    entropy = (w * binary_entropy(open_logits)).sum() / torch.where(total > 0, total, 1)
    target = detector_targets(labels, open_logits.shape[1] // 2 - 1)
    return entropy + one_vs_all_loss(open_logits, target)


class PALObjective(Objective):
    """Losses of PAL on one backbone with three heads, and its WNet, which stays at the site.

    PAL trains a classifier and, apart from it, a meta model that has C outputs until outliers are
    known. Here both share the backbone, and the meta head has C + 1 outputs from the start: sites
    learn of their first outlier in different rounds, but their heads must average.
    """

    name: ClassVar[str] = "pal"
    includes_outliers: ClassVar[bool] = True
    unlabelled_ratio: ClassVar[int] = 2
    outputs: ClassVar[tuple[str, ...]] = ("meta", "open", "weight")

    inner_lr: float = Field(default=0.01, gt=0, description="of the heads' step that WNet sees")
    wnet_lr: float = Field(default=6e-5, gt=0, description="of WNet's Adam")

    def heads(self, width: int, classes: int) -> dict[str, nn.Module]:
        """`meta`: n x (C+1). `open`: n x 2(C+1), see `one_vs_all.log_probabilities`."""
        return {
            "meta": nn.Linear(width, classes + 1),
            "open": nn.Linear(width, 2 * (classes + 1), bias=False),
        }

    def companion(self, classes: int) -> Companion:
        """WNet: n x 2(C+1) open logits -> n x 1 weights in (0, 1).

        PAL adds a weight decay of 5e-4. Coupled into Adam it outweighs the small gradient of a
        bilevel step and shrinks WNet to a constant, so there is none here.
        """
        wnet = nn.Sequential(
            nn.Linear(2 * (classes + 1), HIDDEN), nn.ReLU(), nn.Linear(HIDDEN, 1), nn.Sigmoid()
        )
        return Companion(wnet, optim.Adam(wnet.parameters(), lr=self.wnet_lr))

    def update_companion(
        self,
        companion: Companion,
        heads: nn.ModuleDict,
        outputs: Outputs,
        batch: Batch,
        context: Context,
    ) -> None:
        """Step WNet down the labelled loss of heads that took one step with its weights.

        PAL's code updates the heads in place and then differentiates a loss that no longer hangs
        together with WNet, which so gets a zero gradient and stays as it was drawn.
        """
        wnet = companion.module
        with torch.enable_grad():
            outer = self.outer_loss(wnet, heads["open"], outputs.features, batch.labels, context)
            companion.optimiser.zero_grad()
            torch.autograd.backward(outer, inputs=list(wnet.parameters()))
        companion.optimiser.step()

    def outer_loss(
        self, wnet: nn.Module, head: nn.Module, features: Tensor, labels: Tensor, context: Context
    ) -> Tensor:
        """Cross-entropy over C + 1 classes, on ID and outliers, after one inner step of the head.

        The features are held fixed, so the weights reach the open head alone, and the labels
        judge it as a classifier by its log-odds l_c(1) - l_c(0). The meta head's own step does
        not depend on WNet: its cross-entropy would again give a zero gradient.

        The logits enter WNet detached, else the head could lower the inner loss by turning weights
        down where it is unsure, instead of becoming sure. PAL's code lets it.
        """
        x = features.detach()
        start: dict[str, Tensor] = dict(head.named_parameters())
        logits = functional_call(head, start, (x,))
        open_term = open_loss(logits, labels, wnet(logits.detach()))
        inner = ramp(context).to(open_term) * open_term
        slope = torch.autograd.grad(inner, list(start.values()), create_graph=True)
        stepped = {
            name: p - self.inner_lr * g for (name, p), g in zip(start.items(), slope, strict=True)
        }
        no, yes = log_probabilities(functional_call(head, stepped, (x,))).unbind(1)
        return detection_loss(yes - no, labels)

    def loss(
        self, outputs: Outputs, batch: Batch, context: Context, companion: Companion | None = None
    ) -> Tensor:
        """L as in the head of this file; WNet's weights are constants in it."""
        labels, open_logits = batch.labels, outputs.heads["open"]
        open_term = open_loss(open_logits, labels, _weight(companion, open_logits))
        return (
            classification_loss(outputs.logits, labels, context)
            + detection_loss(outputs.heads["meta"], labels)
            + ramp(context).to(open_term) * open_term
        )

    def pool_outputs(self, outputs: Outputs, companion: Companion | None) -> Mapping[str, Tensor]:
        """The two heads' logits and WNet's `weight`, n x 1."""
        open_logits = outputs.heads["open"]
        weight = _weight(companion, open_logits)
        return {"meta": outputs.heads["meta"], "open": open_logits, "weight": weight}


def _weight(companion: Companion | None, open_logits: Tensor) -> Tensor:
    if companion is None:
        raise ValueError("objective 'pal' needs its companion: pass what `companion` returned")
    with torch.no_grad():
        weight: Tensor = companion.module(open_logits)
    return weight
