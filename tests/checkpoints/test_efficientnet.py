"""efficientnet_pytorch's names in timm's places, worked out from that package's published order."""

from types import SimpleNamespace

import timm
import torch
from torch import Tensor

from fidal.checkpoints.efficientnet import in_its_names, renamed

B0 = (1, 2, 2, 3, 3, 4, 1)
"""Blocks of each stage of EfficientNet-B0. Those of the first do not expand."""

CONVOLUTION = ("weight",)
SQUEEZE = ("weight", "bias")
NORM = ("weight", "bias", "running_mean", "running_var", "num_batches_tracked")


def stages(*blocks: int) -> SimpleNamespace:
    """All of a timm network that is looked at."""
    return SimpleNamespace(blocks=[[None] * n for n in blocks])


def state(*names: str) -> dict[str, Tensor]:
    """A tensor of its own for each name."""
    return {name: torch.tensor(float(i)) for i, name in enumerate(names)}


def b0() -> dict[str, Tensor]:
    """The names of a B0 with squeeze and excitation, in the order of that package."""
    layers = [("_conv_stem", CONVOLUTION), ("_bn0", NORM)]
    for i in range(sum(B0)):
        block = [("_expand_conv", CONVOLUTION), ("_bn0", NORM)] if i >= B0[0] else []
        block += [("_depthwise_conv", CONVOLUTION), ("_bn1", NORM)]
        block += [("_se_reduce", SQUEEZE), ("_se_expand", SQUEEZE)]
        block += [("_project_conv", CONVOLUTION), ("_bn2", NORM)]
        layers += [(f"_blocks.{i}.{layer}", fields) for layer, fields in block]
    layers += [("_conv_head", CONVOLUTION), ("_bn1", NORM), ("_fc", SQUEEZE)]
    return state(*(f"{layer}.{field}" for layer, fields in layers for field in fields))


def test_a_state_is_known_by_its_stem() -> None:
    assert in_its_names(b0())
    assert not in_its_names(state("conv_stem.weight", "blocks.0.0.conv_dw.weight"))
    assert not in_its_names({})


def test_every_tensor_of_a_b0_finds_its_place_in_timms() -> None:
    model = timm.create_model("efficientnet_b0", num_classes=1000)
    assert renamed(b0(), model).keys() == model.state_dict().keys()


def test_blocks_are_counted_through_the_stages() -> None:
    old = [f"_blocks.{i}._depthwise_conv.weight" for i in range(6)]
    assert list(renamed(state(*old), stages(1, 2, 3))) == [
        f"blocks.{place}.conv_dw.weight" for place in ("0.0", "1.0", "1.1", "2.0", "2.1", "2.2")
    ]


def test_batch_norms_are_numbered_by_what_the_block_has() -> None:
    """Two norms of a block may be of one shape, so that no shape tells them apart afterwards."""
    old = state(
        *(f"_blocks.0.{layer}.weight" for layer in ("_depthwise_conv", "_bn1")),
        *(f"_blocks.0.{layer}.weight" for layer in ("_project_conv", "_bn2")),
        *(f"_blocks.1.{layer}.weight" for layer in ("_expand_conv", "_bn0")),
        *(f"_blocks.1.{layer}.weight" for layer in ("_depthwise_conv", "_bn1")),
        *(f"_blocks.1.{layer}.weight" for layer in ("_project_conv", "_bn2")),
    )
    layers = ("0.conv_dw", "0.bn1", "0.conv_pw", "0.bn2")
    layers += ("1.conv_pw", "1.bn1", "1.conv_dw", "1.bn2", "1.conv_pwl", "1.bn3")
    want = {f"blocks.0.{layer}.weight": float(i) for i, layer in enumerate(layers)}
    assert {name: float(x) for name, x in renamed(old, stages(2)).items()} == want


def test_what_is_unknown_keeps_its_name_so_that_filling_can_complain_of_it() -> None:
    odd = state("_blocks.0._swish.beta", "_blocks.7._bn1.weight", "teacher.weight")
    assert renamed(odd, stages(1)).keys() == odd.keys()
