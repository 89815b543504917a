"""What turns an input into features: a linear probe's identity, a small CNN, any timm network."""

from pathlib import Path
from typing import Any, Protocol

import timm
import torch
from safetensors.torch import load_file
from torch import Tensor, nn

IMAGENET_MEAN, IMAGENET_STD = (0.485, 0.456, 0.406), (0.229, 0.224, 0.225)


class Backbone(Protocol):
    """Penultimate features n x width, and the last feature map where there is one."""

    width: int

    def __call__(self, x: Tensor) -> tuple[Tensor, Tensor | None]:
        """In: normalised images n x 3 x H x W, or vectors n x d."""


class Identity(nn.Module):
    """Linear probe: the features are the frozen encoder's vectors themselves, h(x) = x."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.width = width

    def forward(self, x: Tensor) -> tuple[Tensor, None]:
        """In and out: n x d."""
        return x, None


class SmallConvNet(nn.Module):
    """Four strided convolutions: enough for 64-pixel drawings, milliseconds per batch on a CPU."""

    def __init__(self, channels: tuple[int, ...] = (24, 48, 96, 128)) -> None:
        super().__init__()
        self.width = channels[-1]
        layers: list[nn.Module] = []
        for into, out in zip((3, *channels), channels, strict=False):
            layers += [
                nn.Conv2d(into, out, 3, stride=2, padding=1, bias=False),
                nn.BatchNorm2d(out),
                nn.ReLU(inplace=True),
            ]
        self.layers = nn.Sequential(*layers)

    def forward(self, x: Tensor) -> tuple[Tensor, Tensor]:
        """In: n x 3 x H x W. Out: mean over the last map, and the map."""
        spatial = self.layers(x)
        return spatial.mean((2, 3)), spatial


class Timm(nn.Module):
    """Any network of timm without its classifier."""

    def __init__(self, name: str, pretrained: bool, checkpoint: Path | None) -> None:
        super().__init__()
        model: Any = timm.create_model(name, pretrained=pretrained, num_classes=0)
        if checkpoint is not None:
            load_checkpoint(model, checkpoint)
        self.model = model
        self.width = int(model.head_hidden_size)

    def forward(self, x: Tensor) -> tuple[Tensor, Tensor | None]:
        """In: n x 3 x H x W. A transformer has tokens in place of a map: then the map is None."""
        spatial = self.model.forward_features(x)
        features = self.model.forward_head(spatial, pre_logits=True)
        return features, spatial if spatial.ndim == 4 else None


def load_checkpoint(model: nn.Module, path: Path) -> None:
    """Backbone weights from a .safetensors or a tensors-only .pth file; nothing is unpickled.

    The classifier of the file is left out. Any other missing or unexpected name is an error.
    """
    if path.suffix == ".safetensors":
        state = load_file(path)
    else:
        state = torch.load(path, map_location="cpu", weights_only=True)
    own = model.state_dict()
    head = {name for name in state if name.split(".")[0] in ("classifier", "fc", "head")}
    missing = sorted(own.keys() - state.keys())
    unexpected = sorted(state.keys() - own.keys() - head)
    if missing or unexpected:
        raise ValueError(
            f"network checkpoint {path.name}: {len(missing)} names missing (first {missing[:3]}), "
            f"{len(unexpected)} unexpected (first {unexpected[:3]}); is it another architecture?"
        )
    model.load_state_dict({name: state[name] for name in own})
