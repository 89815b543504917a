"""CHIEF's patch encoder, also known as CHIEF-CTransPath: histology patches (Wang et al. 2024)."""

from collections.abc import Mapping
from typing import ClassVar, Final

from pydantic import Field
from torch import Tensor, nn

from fidal.encoders.architectures.swin import SwinTiny
from fidal.encoders.base import Card
from fidal.encoders.preparation import Preparation, Resample
from fidal.encoders.published import PublishedEncoder

SIZE: Final = 224
MEAN: Final = (0.485, 0.456, 0.406)
STD: Final = (0.229, 0.224, 0.225)
CONSTANTS: Final = ("relative_position_index", "attn_mask")
"""Not learned. Swin-T keeps them with its weights in some versions and not in others."""


class Chief(PublishedEncoder):
    """Histology: Swin-T with a convolutional stem; g(x) is the mean token."""

    name: ClassVar[str] = "chief"
    cards: ClassVar[Mapping[str, Card]] = {
        "": Card(
            dimension="768",
            size="224 (bicubic)",
            mean="0.485 0.456 0.406",
            std="0.229 0.224 0.225",
            licence="AGPL-3.0, non-commercial by its README",
            weights="CHIEF_CTransPath.pth: Google Drive, on request, see github hms-dbmi/CHIEF",
        )
    }
    resample: Resample = Field(
        default="bicubic", description="of patches that are not 224 pixels; the authors': bilinear"
    )

    @property
    def dimension(self) -> int:
        """768."""
        return 768

    @property
    def preparation(self) -> Preparation:
        """Resize to 224."""
        return Preparation(SIZE, MEAN, STD, resample=self.resample)

    def empty(self) -> nn.Module:
        """Swin-T."""
        return SwinTiny(SIZE)

    def state(self, file: dict[str, Tensor], network: nn.Module) -> Mapping[str, Tensor]:
        """All of it, and the constants where the file has none."""
        own = network.state_dict()
        return {name: own[name] for name in own if name.endswith(CONSTANTS)} | file
