"""PanDerm: a vision transformer trained on two million images of skin (Yan et al. 2025)."""

from collections.abc import Mapping
from typing import ClassVar, Final, Literal

from pydantic import Field
from torch import Tensor, nn

from fidal.checkpoints.files import within
from fidal.encoders.architectures.vit import VisionTransformer
from fidal.encoders.base import Card
from fidal.encoders.preparation import Preparation
from fidal.encoders.published import PublishedEncoder

PREPARATION: Final = Preparation(
    size=224,
    edge=256,
    mean=(0.485, 0.456, 0.406),
    std=(0.228, 0.224, 0.225),  # Red is 0.228 in the authors' code, not ImageNet's 0.229.
)
SHAPES: Final = {"large": (1024, 24, 16), "base": (768, 12, 12)}
"""Width, depth, heads."""


class PanDerm(PublishedEncoder):
    """Dermatology: ViT-L/16 or ViT-B/16; g(x) is the class token."""

    name: ClassVar[str] = "panderm"
    cards: ClassVar[Mapping[str, Card]] = {
        model: Card(
            dimension=str(shape[0]),
            size=str(PREPARATION),
            mean="0.485 0.456 0.406",
            std="0.228 0.224 0.225",
            licence="CC BY-NC-ND 4.0",
            weights=f"{file}: Google Drive, linked in the README of github SiyuanYan1/PanDerm",
        )
        for (model, shape), file in zip(
            SHAPES.items(),
            ("panderm_ll_data6_checkpoint-499.pth", "panderm_bb_data6_checkpoint-499.pth"),
            strict=True,
        )
    }
    model: Literal["large", "base"] = Field(default="large", description="ViT-L/16 or ViT-B/16")

    @property
    def dimension(self) -> int:
        """1024 or 768."""
        return SHAPES[self.model][0]

    @property
    def preparation(self) -> Preparation:
        """See PREPARATION."""
        return PREPARATION

    def empty(self) -> nn.Module:
        """By model."""
        return VisionTransformer(*SHAPES[self.model])

    def state(self, file: dict[str, Tensor], network: nn.Module) -> Mapping[str, Tensor]:
        """What the names call the encoder; decoder and teacher stay in the file."""
        # The position is not learned: where the file has none, the authors' code makes it too.
        return {"pos_embed": network.get_buffer("pos_embed"), **within(file, "encoder.")}

    @staticmethod
    def may_stay(name: str) -> bool:
        """A decoder or a classifier in a file that calls nothing the encoder."""
        return name.split(".")[0] in ("decoder", "head")
