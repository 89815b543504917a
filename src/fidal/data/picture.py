"""One image file -> size x size x 3 bytes. The rule is stated here and nowhere else.

1. The camera's orientation tag is obeyed. A DICOM file, known by its marks and not by its name, is
   shown as its window says (`dicom/grayscale.py`); all else that stands in it stays in it.
2. Colour: grayscale is repeated to three channels, palettes are looked up, alpha is dropped.
   16-bit grayscale is divided by 2^(bits - 8): one fixed scale for all images, never stretched per
   image, so that brightness stays comparable. (16-bit colour arrives as its high bytes.)
3. Shape: "crop" brings the shorter edge to `size` and cuts the centre; "pad" brings the longer
   edge to `size` and adds black. Bilinear with antialiasing. A JPEG much larger than that is
   decoded at the smallest of its built-in scales that is at least twice `size`.
"""

import io
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Literal

import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageOps

from fidal.data import dicom

RULE: Final = 1
"""To be raised when this file changes what it makes of the same image."""


@dataclass(frozen=True)
class Recipe:
    """What an image, a file or the bytes of one, becomes. Raises what Pillow raises."""

    size: int
    fit: Literal["crop", "pad"] = "crop"
    bits: int = 16
    """Bits that 16-bit grayscale files really use, 8..16; 12 is common in mammography."""

    @property
    def shape(self) -> tuple[int, int, int]:
        """Of every picture."""
        return (self.size, self.size, 3)

    @property
    def identity(self) -> str:
        """The rule's version and what it is told."""
        return f"picture {RULE}.{dicom.RULE} {self}"

    def __call__(self, origin: Path | bytes) -> NDArray[np.uint8]:
        """The image: size x size x 3."""
        rgb = load(origin, self.bits, 2 * self.size).convert("RGB")
        shape = ImageOps.fit if self.fit == "crop" else ImageOps.pad
        return np.asarray(shape(rgb, self.shape[:2], Image.Resampling.BILINEAR))


def load(origin: Path | bytes, bits: int, enough: int | None = None) -> Image.Image:
    """The image upright, in 8 bits, whatever its colours; `enough`: pixels of an edge that a JPEG
    need not go beyond. Raises what Pillow raises."""
    if dicom.is_dicom(origin):
        return Image.fromarray(dicom.read_dicom(origin).pixels)
    with Image.open(io.BytesIO(origin) if isinstance(origin, bytes) else origin) as image:
        if enough is not None:
            image.draft(None, (enough, enough))
        return _eight_bits(ImageOps.exif_transpose(image), bits)


def _eight_bits(image: Image.Image, bits: int) -> Image.Image:
    if image.mode == "F":
        raise ValueError("floating-point pixels have no stated range; save as 8 or 16 bits")
    if image.mode == "I" or image.mode.startswith("I;16"):
        values = np.asarray(image)
        if values.min() < 0 or values.max() >= 1 << bits:
            raise ValueError(f"pixel values {values.min()}..{values.max()} do not fit {bits} bits")
        return Image.fromarray((values >> (bits - 8)).astype(np.uint8))
    return image
