"""A histology patch of 96 x 96 pixels."""

from dataclasses import dataclass
from pathlib import Path
from typing import Final

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from fidal.data.preparing.colour import open_colour

SIZE: Final = 96
MODES: Final = ("RGB", "RGBA")


@dataclass(frozen=True)
class Patch:
    """Camelyon17's patches as they are; HistoArtifacts' squares of 224 pixels brought to 96."""

    @property
    def shape(self) -> tuple[int, int, int]:
        """Of every patch."""
        return (SIZE, SIZE, 3)

    @property
    def identity(self) -> str:
        """The rule's version."""
        return "patch 1"

    def __call__(self, origin: Path) -> NDArray[np.uint8]:
        """The pixels of a file: bilinear, with antialiasing, where they have to be scaled."""
        image = open_colour(origin, MODES)
        if image.width != image.height or image.width < SIZE:
            raise ValueError(
                f"{image.width} x {image.height} pixels; patches are squares of at least {SIZE}"
            )
        return np.asarray(image.resize((SIZE, SIZE), Image.Resampling.BILINEAR))
