"""What turns an input into features: a linear probe's identity, a small CNN, any timm network."""

from pathlib import Path
from pickle import UnpicklingError
from typing import Any, Protocol

import timm
import torch
from safetensors import SafetensorError
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
        model = _create(name, pretrained)
        if checkpoint is not None:
            load_checkpoint(model, checkpoint)
        self.model = model
        self.width = int(model.head_hidden_size)

    def forward(self, x: Tensor) -> tuple[Tensor, Tensor | None]:
        """In: n x 3 x H x W. A transformer has tokens in place of a map: then the map is None."""
        spatial = self.model.forward_features(x)
        features = self.model.forward_head(spatial, pre_logits=True)
        return features, spatial if spatial.ndim == 4 else None


def _create(name: str, pretrained: bool) -> Any:
    try:
        return timm.create_model(name, pretrained=pretrained, num_classes=0)
    except (OSError, RuntimeError) as error:  # the hub's errors are OSErrors
        why = str(error).partition("\n")[0]
        if not pretrained:
            raise ValueError(f"network.kind '{name}': {why}") from error
        raise ValueError(
            f"network.kind '{name}': no weights from timm's hub ({why}); connect once, or give a "
            "local file as network.checkpoint, or set network.pretrained = false"
        ) from error


def load_checkpoint(model: nn.Module, path: Path) -> None:
    """Backbone weights from a .safetensors or a tensors-only .pth file; nothing is unpickled.

    The classifier of the file is left out. Any other missing or unexpected name is an error.
    """
    state, own = _tensors(path), model.state_dict()
    head = {name for name in state if name.split(".")[0] in ("classifier", "fc", "head")}
    missing = sorted(own.keys() - state.keys())
    unexpected = sorted(state.keys() - own.keys() - head)
    misshapen = [k for k, x in own.items() if k in state and x.shape != state[k].shape]
    if missing or unexpected or misshapen:
        raise ValueError(
            f"network.checkpoint {path.name}: {len(missing)} names missing (first {missing[:3]}), "
            f"{len(unexpected)} unexpected (first {unexpected[:3]}), {len(misshapen)} of another "
            f"shape (first {misshapen[:3]}); is it another architecture?"
        )
    model.load_state_dict({name: state[name] for name in own})


def _tensors(path: Path) -> dict[str, Tensor]:
    try:
        if path.suffix == ".safetensors":
            return load_file(path)
        state = torch.load(path, map_location="cpu", weights_only=True)
    except FileNotFoundError as error:
        raise ValueError(f"network.checkpoint: there is no file {path.absolute()}") from error
    except (SafetensorError, UnpicklingError, RuntimeError, OSError, EOFError) as error:
        raise ValueError(
            f"network.checkpoint {path}: can't be read as tensors alone; save the network's "
            "state_dict as .safetensors"
        ) from error
    if not isinstance(state, dict) or not all(isinstance(x, Tensor) for x in state.values()):
        raise ValueError(f"network.checkpoint {path}: holds no state_dict; save one, and only that")
    return state
