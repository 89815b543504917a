"""A detector: C + 1 outputs, the last for "does not belong here"; LfOSA trains one."""

from typing import ClassVar

import torch
import torch.nn.functional as F
from pydantic import Field
from torch import Tensor, nn

from fidal.learning.objectives.base import Batch, Companion, Context, Objective
from fidal.learning.objectives.cross_entropy import classification_loss
from fidal.types import OUTLIER, UNLABELLED, Outputs


def detector_targets(labels: Tensor, classes: int) -> Tensor:
    """OUTLIER becomes class C; the C classes and UNLABELLED stay. In and out: n."""
    return torch.where(labels == OUTLIER, classes, labels)


def detection_loss(logits: Tensor, labels: Tensor, temperature: float = 1.0) -> Tensor:
    """Cross-entropy of logits / T over C + 1 classes, without class weights. In: n x (C+1), n.

    Out: the mean over the batch's labelled images, ID and outliers alike; zero without any.
    """
    target = detector_targets(labels, logits.shape[1] - 1)
    total = F.cross_entropy(logits / temperature, target, ignore_index=UNLABELLED, reduction="sum")
    return total / (target >= 0).sum().clamp_min(1)


class Detector(Objective):
    """LfOSA: the task's loss + the detector's, whose low temperature sharpens its activations.

    LfOSA trains two networks; here they share the backbone and differ in the head. Its options
    default to a temperature of 2 for outliers, its README runs 0.5 for both: we take 0.5.
    At a site without outliers nothing is ever of class C, as in LfOSA's first round.
    """

    name: ClassVar[str] = "detector"
    includes_outliers: ClassVar[bool] = True
    outputs: ClassVar[tuple[str, ...]] = ("detector",)
    temperature: float = Field(default=0.5, gt=0, description="of the detector's softmax")

    def heads(self, width: int, classes: int) -> dict[str, nn.Module]:
        """`detector`: n x (C+1)."""
        return {"detector": nn.Linear(width, classes + 1)}

    def loss(
        self, outputs: Outputs, batch: Batch, context: Context, companion: Companion | None = None
    ) -> Tensor:
        """Cross-entropy of the C classes on ID + of the C + 1 classes on ID and outliers."""
        return classification_loss(outputs.logits, batch.labels, context) + detection_loss(
            outputs.heads["detector"], batch.labels, self.temperature
        )
