"""Any network of timm as an encoder: DINOv2, ConvNeXt, and a thousand more."""

import math
from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any, ClassVar, Final, get_args

import timm
from pydantic import Field, field_validator
from torch import nn

from fidal.checkpoints.files import file_hash
from fidal.encoders.base import Card
from fidal.encoders.network import NetworkEncoder
from fidal.encoders.preparation import Preparation, Resample
from fidal.learning.backbones import create, load_checkpoint
from fidal.parts import nearest
from fidal.storage import digest

CROPS: Final = ("center", "squash")


class TimmEncoder(NetworkEncoder):
    """Any network of timm, e.g. DINOv2; g(x) is what its classifier would read."""

    name: ClassVar[str] = "timm"
    cards: ClassVar[Mapping[str, Card]] = {
        "": Card(
            dimension="the network's",
            size="the network's",
            mean="the network's",
            std="the network's",
            licence="the network's, see its card on the hub",
            weights="Hugging Face timm/MODEL, or checkpoint = a file of them",
        )
    }
    model: str = Field(description="its name, e.g. vit_base_patch14_dinov2.lvd142m")
    checkpoint: Path | None = Field(
        default=None, description="file or package:NAME of its weights; from timm's hub if unset"
    )
    size: int | None = Field(
        default=None, ge=16, description="pixels that it sees; those it was trained with if unset"
    )

    @field_validator("model")
    @classmethod
    def _is_known(cls, model: str) -> str:
        if not timm.is_model(model):
            raise ValueError(f"'{model}' is unknown to timm; {nearest(model, timm.list_models())}")
        return model

    @property
    def dimension(self) -> int:
        """The width of its last features."""
        return _facts(self.model)[0]

    @property
    def preparation(self) -> Preparation:
        """The network's evaluation transform, as timm states it."""
        config = _facts(self.model)[1]
        resample, crop = config["interpolation"], config["crop_mode"]
        if resample not in get_args(Resample) or crop not in CROPS:
            raise ValueError(
                f"encoder 'timm': '{self.model}' wants {resample} resampling and a {crop} crop, of "
                "which one is not built in; export it to ONNX and use encoder 'onnx'"
            )
        size = self.size or config["input_size"][-1]
        return Preparation(
            size=size,
            edge=math.floor(size / config["crop_pct"]),
            mean=config["mean"],
            std=config["std"],
            resample=resample,
            squash=crop == "squash",
        )

    @property
    def weights(self) -> str:
        """Model and file, or a hash of what the hub gave."""
        found = _hash_of_hub(self.model) if self.checkpoint is None else file_hash(self.checkpoint)
        return f"{self.model} {found}"

    def network(self) -> nn.Module:
        """With the weights, for images of `size`."""
        network = create(self.model, pretrained=self.checkpoint is None)
        if self.checkpoint is not None:
            load_checkpoint(network, self.checkpoint)
        if self.size is not None and network.pretrained_cfg.get("fixed_input_size"):
            if not hasattr(network, "set_input_size"):
                raise ValueError(
                    f"encoder 'timm': '{self.model}' sees {_facts(self.model)[1]['input_size']} "
                    "and nothing else; leave size out"
                )
            network.set_input_size(img_size=self.size)
        return network  # type: ignore[no-any-return]


@lru_cache(maxsize=4)
def _facts(model: str) -> tuple[int, dict[str, Any]]:
    """Width of the features, and the evaluation transform."""
    network = create(model, pretrained=False)
    return int(network.head_hidden_size), network.pretrained_cfg


@lru_cache(maxsize=4)
def _hash_of_hub(model: str) -> str:
    return digest(create(model, pretrained=True).state_dict(), {})
