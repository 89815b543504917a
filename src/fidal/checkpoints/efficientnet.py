"""The names of the `efficientnet_pytorch` family of packages, turned into timm's.

Both build the same network from the same TensorFlow weights. The one numbers its blocks through and
skips the expansion's batch norm where a block has none; the other counts blocks within stages and
numbers the batch norms of a block from 1. Lite networks and Mammo-CLIP are saved in the first way.
"""

from collections.abc import Mapping
from typing import Any, Final

from torch import Tensor

STEM: Final = {
    "_conv_stem": "conv_stem",
    "_bn0": "bn1",
    "_conv_head": "conv_head",
    "_bn1": "bn2",
    "_fc": "classifier",
}
_EXCITE: Final = {"_se_reduce": "se.conv_reduce", "_se_expand": "se.conv_expand"}
PLAIN: Final = _EXCITE | {
    "_depthwise_conv": "conv_dw",
    "_bn1": "bn1",
    "_project_conv": "conv_pw",
    "_bn2": "bn2",
}
EXPANDING: Final = _EXCITE | {
    "_expand_conv": "conv_pw",
    "_bn0": "bn1",
    "_depthwise_conv": "conv_dw",
    "_bn1": "bn2",
    "_project_conv": "conv_pwl",
    "_bn2": "bn3",
}


def in_its_names(state: Mapping[str, Tensor]) -> bool:
    """Is this a state dict of efficientnet_pytorch?"""
    return "_conv_stem.weight" in state


def renamed(state: Mapping[str, Tensor], model: Any) -> dict[str, Tensor]:
    """The state under the names of timm's `model`; a name that is unknown stays as it is."""
    places = [f"blocks.{s}.{b}" for s, stage in enumerate(model.blocks) for b in range(len(stage))]
    expanding = {name.split(".")[1] for name in state if "._expand_conv." in name}

    def rename(name: str) -> str:
        layer, _, field = name.partition(".")
        if layer != "_blocks":
            return f"{STEM.get(layer, layer)}.{field}"
        number, layer, field = field.split(".", 2)
        names = EXPANDING if number in expanding else PLAIN
        if layer not in names or int(number) >= len(places):
            return name
        return f"{places[int(number)]}.{names[layer]}.{field}"

    return {rename(name): tensor for name, tensor in state.items()}
