"""What turns the file of an image into the pixels that are kept."""

from typing import Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

Origin = TypeVar("Origin", contravariant=True)


class Render(Protocol[Origin]):
    """One image, as a file or in another form -> the pixels that are kept.

    It is called from several threads at once. What it raises is what is wrong with the image.
    """

    @property
    def shape(self) -> tuple[int, int, int]:
        """Height, width, channels: three, or one for grayscale, which is repeated to three only
        when a batch is decoded for a network."""

    @property
    def identity(self) -> str:
        """All that the pixels depend on besides the file."""

    def __call__(self, origin: Origin, /) -> NDArray[np.uint8]:
        """The pixels, of `shape`."""
