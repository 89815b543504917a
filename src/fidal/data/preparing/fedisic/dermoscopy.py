"""FLamby's preprocessing of a dermoscopy image, and of every outlier beside it.

1. The shorter edge is brought to 224 pixels, both edges cut down to whole numbers, bilinear. So
   the shorter edge can come out as 223.
2. Shades of grey: each channel is divided by its Minkowski mean of order 6, relative to the other
   channels'. A channel that is brightened passes 255: FLamby's cast to bytes wraps it around,
   "clip" stops it there.
3. The centre, 224 x 224, as FEAL's loader cuts it; a row of 223 gets black beside it.

FLamby stores step 2 as JPEG once more; here the pixels are kept.
"""

from dataclasses import dataclass
from pathlib import Path
from typing import Final, Literal

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from fidal.data.preparing.colour import open_colour

SIZE: Final = 224
POWER: Final = 6
MODES: Final = ("RGB", "RGBA", "CMYK", "P", "L")
"""Photographs from the web come in all of these, and all are 8 bits per channel."""

Overflow = Literal["clip", "wrap"]


@dataclass(frozen=True)
class Dermoscopy:
    """An image of any size -> 224 x 224 x 3."""

    overflow: Overflow = "clip"

    @property
    def shape(self) -> tuple[int, int, int]:
        """Of every image."""
        return (SIZE, SIZE, 3)

    @property
    def identity(self) -> str:
        """The rule's version and its choice."""
        return f"dermoscopy 1 {self.overflow}"

    def __call__(self, origin: Path) -> NDArray[np.uint8]:
        """The pixels of a file."""
        image = open_colour(origin, MODES)
        ratio = SIZE / min(image.size)
        edges = (int(image.width * ratio), int(image.height * ratio))
        small = np.asarray(image.resize(edges, Image.Resampling.BILINEAR))
        return centre(shades_of_grey(small, self.overflow), SIZE)


def shades_of_grey(image: NDArray[np.uint8], overflow: Overflow) -> NDArray[np.uint8]:
    """Colour constancy by Minkowski means of order 6. A channel that is black stays so."""
    values = image.astype(np.float32)
    light = np.mean(values**POWER, axis=(0, 1)) ** (1 / POWER)
    grey = np.sqrt((light**2).mean())
    values *= grey / np.where(light > 0, light, 1)
    if overflow == "clip":
        values = values.clip(0, 255)
    return values.astype(np.int32).astype(np.uint8)


def centre(image: NDArray[np.uint8], size: int) -> NDArray[np.uint8]:
    """size x size from the middle, with black around what is smaller; torchvision's rounding."""
    for axis in (0, 1):
        extra = image.shape[axis] - size
        if extra < 0:
            margin = [(0, 0)] * 3
            margin[axis] = (-extra // 2, (1 - extra) // 2)
            image = np.pad(image, margin)
        else:
            first = round(extra / 2)
            image = image.take(range(first, first + size), axis)
    return image
