"""What turns an input into features: a linear probe's identity, a small CNN, any timm network."""

from pathlib import Path
from typing import Any, Protocol

import timm
from torch import Tensor, nn

from fidal.checkpoints import densenet, efficientnet
from fidal.checkpoints.files import CheckpointError, read
from fidal.checkpoints.strict import fill

Channels = tuple[float, float, float]
IMAGENET_MEAN: Channels = (0.485, 0.456, 0.406)
IMAGENET_STD: Channels = (0.229, 0.224, 0.225)


class Backbone(Protocol):
    """Penultimate features n x width, and the last feature map where there is one."""

    width: int
    mean: Channels
    std: Channels
    """What images in [0, 1] are normalised with: the numbers that the weights were trained with."""

    def __call__(self, x: Tensor) -> tuple[Tensor, Tensor | None]:
        """In: normalised images n x 3 x H x W, or vectors n x d."""


class Identity(nn.Module):
    """Linear probe: the features are the frozen encoder's vectors themselves, h(x) = x."""

    mean: Channels = (0, 0, 0)
    std: Channels = (1, 1, 1)

    def __init__(self, width: int) -> None:
        super().__init__()
        self.width = width

    def forward(self, x: Tensor) -> tuple[Tensor, None]:
        """In and out: n x d."""
        return x, None


class SmallConvNet(nn.Module):
    """Four strided convolutions: enough for 64-pixel drawings, milliseconds per batch on a CPU."""

    mean, std = IMAGENET_MEAN, IMAGENET_STD

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
        model = create(name, pretrained=pretrained and checkpoint is None)
        if checkpoint is not None:
            load_checkpoint(model, checkpoint)
        self.model = model
        self.width = int(model.head_hidden_size)
        self.mean: Channels = model.pretrained_cfg["mean"]
        self.std: Channels = model.pretrained_cfg["std"]

    def forward(self, x: Tensor) -> tuple[Tensor, Tensor | None]:
        """In: n x 3 x H x W. A transformer has tokens in place of a map: then the map is None."""
        spatial = self.model.forward_features(x)
        features = self.model.forward_head(spatial, pre_logits=True)
        return features, spatial if spatial.ndim == 4 else None


def create(name: str, *, pretrained: bool, **arguments: Any) -> Any:
    """A network of timm without its classifier; `pretrained` fetches its weights from the hub."""
    try:
        return timm.create_model(name, pretrained=pretrained, num_classes=0, **arguments)
    except Exception as error:  # timm hands on whatever its hub, the network or the cache raises
        why = f"{type(error).__name__}: {str(error).partition(chr(10))[0]}"
        if not pretrained:
            raise ValueError(f"timm can't make '{name}' ({why}); is its tag right?") from error
        raise CheckpointError(
            f"timm's weights of '{name}' can't be fetched ({why}); "
            "where there is no hub, give checkpoint = a file of them or package:NAME"
        ) from error


def load_checkpoint(model: nn.Module, checkpoint: Path) -> None:
    """Backbone weights from a file or an installed package (`checkpoints/files.py`).

    The classifier of the file is left out. Any other missing or unexpected name is an error.
    """
    state = densenet.renamed(read(checkpoint))
    if efficientnet.in_its_names(state):
        _refuse_other_padding(model, checkpoint)
        state = efficientnet.renamed(state, model)
    fill(model, state, f"network checkpoint {checkpoint.name}", _of_a_classifier)


def _refuse_other_padding(model: Any, checkpoint: Path) -> None:
    """The names of `efficientnet_b0` and `tf_efficientnet_b0` are the same, and all tensors fit."""
    name = str(model.pretrained_cfg["architecture"])
    if not name.startswith("tf_"):
        raise CheckpointError(
            f"network checkpoint {checkpoint.name}: weights of efficientnet_pytorch, which pads as "
            f"TensorFlow does and '{name}' does not; choose 'tf_{name}'"
        )


def _of_a_classifier(name: str) -> bool:
    return name.split(".")[0] in ("classifier", "fc", "head")
