"""Class-weighted cross-entropy on the labelled ID images, the default of every strategy."""

from typing import ClassVar, Literal

import torch
import torch.nn.functional as F
from pydantic import Field
from torch import Tensor

from fidal.learning.objectives.base import Batch, Companion, Context, Objective
from fidal.types import Outputs


def class_weights(context: Context) -> Tensor:
    """2 - n_c / n: rare classes count up to twice as much, absent ones exactly twice."""
    counts = context.class_counts
    return 2 - counts / counts.sum().clamp_min(1)


def classification_loss(
    logits: Tensor, labels: Tensor, context: Context, weighted: bool = True
) -> Tensor:
    """Mean over the batch's ID images of weight_y * (-log p_y); zero where there are none.

    It is the classification part of every objective, so that strategies differ in what they
    select and in their own heads, never in how the task itself is learned.
    """
    known = labels >= 0
    target = labels.clamp_min(0)
    each = F.cross_entropy(logits, target, reduction="none")
    if weighted:
        each = each * class_weights(context).to(each)[target]
    return torch.where(known, each, 0).sum() / known.sum().clamp_min(1)


class CrossEntropy(Objective):
    """No extra head. In: logits and labels. Out: (weighted) mean cross-entropy over ID images."""

    name: ClassVar[str] = "cross-entropy"
    weighting: Literal["inverse-share", "none"] = Field(
        default="inverse-share", description="class weight 2 - n_c/n of the site, or none"
    )

    def loss(
        self, outputs: Outputs, batch: Batch, context: Context, companion: Companion | None = None
    ) -> Tensor:
        """See `classification_loss`."""
        weighted = self.weighting == "inverse-share"
        return classification_loss(outputs.logits, batch.labels, context, weighted)
