"""A mammogram -> the breast alone, on black, in one channel.

By the source's rule (Roschewitz et al., MedIA 2025, after the paper's "the background is removed"):
of what is brighter than 5 of 255 the largest piece that hangs together over edges of pixels (not
corners) stays, all else becomes black: letters and markers beside the breast go, what touches it
stays. Then height x width, without regard to the aspect, bilinear with antialiasing.
16-bit PNG files lose their low byte, as in the source's reader.
"""

import logging
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import numpy as np
from numpy.typing import NDArray
from PIL import Image
from scipy import ndimage

from fidal.data import dicom
from fidal.data.picture import RULE as PICTURE_RULE
from fidal.data.picture import load

log = logging.getLogger(__name__)

RULE: Final = 1
"""To be raised when this file changes what it makes of the same image."""

THRESHOLD: Final = 5


@dataclass(frozen=True)
class Breast:
    """What a mammogram, PNG or DICOM, becomes."""

    height: int
    width: int

    @property
    def shape(self) -> tuple[int, int, int]:
        """Of every mammogram."""
        return (self.height, self.width, 1)

    @property
    def identity(self) -> str:
        """The versions of the rules and the size."""
        return f"breast {RULE}.{PICTURE_RULE}.{dicom.RULE} {self}"

    def __call__(self, origin: Path | bytes) -> NDArray[np.uint8]:
        """The breast: height x width x 1.

        Errors are kept beside the pixels, and a path may name a patient: so none says where the
        file lies. The person who runs this is told, in a warning.
        """
        try:
            return self._rendered(origin)
        except Exception as error:
            why = getattr(error, "strerror", None) or str(error)
            if isinstance(origin, Path):
                log.warning("%s: %s", origin, why)
            if getattr(error, "filename", None):
                raise ValueError(f"the file can't be read: {why}") from None
            raise

    def _rendered(self, origin: Path | bytes) -> NDArray[np.uint8]:
        gray = np.asarray(load(origin, bits=16).convert("L"))
        breast = Image.fromarray(extract_breast(gray))
        small = breast.resize((self.width, self.height), Image.Resampling.BILINEAR)
        return np.asarray(small)[:, :, None]


def extract_breast(gray: NDArray[np.uint8]) -> NDArray[np.uint8]:
    """H x W, black where the breast is not."""
    pieces, n = ndimage.label(gray > THRESHOLD)
    if n == 0:
        raise ValueError(f"no pixel is brighter than {THRESHOLD} of 255: it shows nothing")
    sizes = np.bincount(pieces.reshape(-1))
    sizes[0] = 0
    return np.where(pieces == sizes.argmax(), gray, np.uint8(0))
