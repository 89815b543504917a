"""Mammo-CLIP's image encoder: mammograms with their reports (Ghosh et al. 2024)."""

from collections.abc import Mapping
from typing import ClassVar, Final, Literal

from pydantic import Field
from torch import Tensor, nn

from fidal.checkpoints.files import within
from fidal.encoders.architectures.efficientnet import B2, B5, EfficientNet
from fidal.encoders.base import Card
from fidal.encoders.preparation import Preparation
from fidal.encoders.published import PublishedEncoder

MEAN: Final = 0.3089279
STD: Final = 0.25053555408335154
SCALES: Final = {"b5": B5, "b2": B2}
FILES: Final = {"b5": "b5-model-best-epoch-7.tar", "b2": "b2-model-best-epoch-10.tar"}


def _card(model: str) -> Card:
    return Card(
        dimension=str(SCALES[model].channels(1280)),
        size="as stored; trained on 1520 x 912",
        mean=f"{MEAN:.7f}, of the image from its minimum to its maximum",
        std=f"{STD:.8f}",
        licence="CC BY-NC-SA 4.0",
        weights=f"{FILES[model]}: Hugging Face shawn24/Mammo-CLIP, Pre-trained-checkpoints; "
        "once: fidal encoders convert",
    )


class MammoClip(PublishedEncoder):
    """Mammography: EfficientNet B5 or B2; g(x) is the mean over its last map."""

    name: ClassVar[str] = "mammo-clip"
    cards: ClassVar[Mapping[str, Card]] = {model: _card(model) for model in SCALES}
    model: Literal["b5", "b2"] = Field(default="b5", description="EfficientNet B5 or B2")

    @property
    def dimension(self) -> int:
        """2048 or 1408."""
        return SCALES[self.model].channels(1280)

    @property
    def preparation(self) -> Preparation:
        """No resizing; each image is stretched from its minimum to its maximum."""
        return Preparation(None, (MEAN, MEAN, MEAN), (STD, STD, STD), stretch=True)

    def empty(self) -> nn.Module:
        """By model."""
        return EfficientNet(SCALES[self.model])

    def state(self, file: dict[str, Tensor], network: nn.Module) -> Mapping[str, Tensor]:
        """The image encoder; text encoder and projections stay in the file."""
        return within(file, "image_encoder.")
