"""Mammo-CLIP's EfficientNet against the package whose names it has, and against timm's."""

import pytest
import timm
import torch
from torch import Tensor, nn

from fidal.checkpoints.efficientnet import renamed
from fidal.encoders.architectures.efficientnet import B2, B5, EfficientNet, Scale
from tests.encoders.made import close, lively, noise, told_apart

TALL = (304, 184)
"""1520 x 912 by five. It would be padded at other places than the square that a network is for."""


def theirs(scale: Scale) -> nn.Module:
    package = pytest.importorskip("efficientnet_pytorch")
    network: nn.Module = package.EfficientNet.from_name(
        "efficientnet-b0",
        include_top=False,
        width_coefficient=scale.width,
        depth_coefficient=scale.depth,
        image_size=scale.pixels,
    )
    return network.eval()


def against_theirs(scale: Scale, x: Tensor) -> None:
    ours, package = lively(EfficientNet(scale), noise(2, 224, 224)), theirs(scale)
    package.load_state_dict(ours.state_dict())
    with torch.no_grad():
        rows = ours(x)
        assert rows.shape == (len(x), scale.channels(1280)) and told_apart(rows)
        assert close(rows, package(x).flatten(1))


@pytest.mark.parametrize("pixels", [260, 456, 101])
def test_names_and_output_are_those_of_efficientnet_pytorch(pixels: int) -> None:
    against_theirs(Scale(0.4, 0.7, pixels), noise(2, *TALL))


@pytest.mark.slow
@pytest.mark.parametrize("scale", [B2, B5], ids=["b2", "b5"])
def test_the_output_at_full_size_is_that_of_efficientnet_pytorch(scale: Scale) -> None:
    against_theirs(scale, noise(2, *TALL))


@pytest.mark.parametrize(("name", "scale"), [("b2", B2), ("b5", B5)])
def test_the_sizes_are_those_of_b2_and_b5(name: str, scale: Scale) -> None:
    package = pytest.importorskip("efficientnet_pytorch")
    known = package.EfficientNet.from_name(f"efficientnet-{name}", include_top=False).state_dict()
    with torch.device("meta"):
        own = EfficientNet(scale).state_dict()
    assert {k: v.shape for k, v in own.items()} == {k: v.shape for k, v in known.items()}


def test_at_its_own_resolution_padding_and_output_are_timms_and_elsewhere_not() -> None:
    ours = lively(EfficientNet(B2), noise(2, 224, 224))
    timms = timm.create_model("tf_efficientnet_b2", num_classes=0).eval()
    timms.load_state_dict(renamed(ours.state_dict(), timms))
    with torch.no_grad():
        square, tall = noise(1, B2.pixels, B2.pixels), noise(1, 320, 184)
        assert close(ours(square), timms(square))
        # The reason why this is not simply timm's network.
        assert not torch.allclose(ours(tall), timms(tall), atol=1e-2)


@pytest.mark.slow
def test_b5_at_its_own_resolution_is_timms() -> None:
    ours = lively(EfficientNet(B5), noise(2, 224, 224))
    timms = timm.create_model("tf_efficientnet_b5", num_classes=0).eval()
    timms.load_state_dict(renamed(ours.state_dict(), timms))
    with torch.no_grad():
        square = noise(1, B5.pixels, B5.pixels)
        assert close(ours(square), timms(square))
