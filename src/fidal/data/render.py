"""What turns the file of an image into the pixels that are kept, one image and many."""

import os
from collections import deque
from collections.abc import Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Final, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray
from PIL import UnidentifiedImageError

Origin = TypeVar("Origin")
Taken = TypeVar("Taken", contravariant=True)

BATCH: Final = 1 << 24
"""Bytes of pixels that are handed on at once, and lost by a kill: 111 images of 224 x 224 x 3."""


AHEAD: Final = 2
"""Batches in the making while an earlier one is taken: no core waits for the disk."""


class Render(Protocol[Taken]):
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

    def __call__(self, origin: Taken, /) -> NDArray[np.uint8]:
        """The pixels, of `shape`."""


def render_all(
    origins: Sequence[Origin], render: Render[Origin]
) -> Iterator[list[NDArray[np.uint8] | str]]:
    """Batch by batch, in order, each image's pixels, or why there are none."""
    size = max(1, BATCH // int(np.prod(render.shape)))
    coming: deque[list[Future[NDArray[np.uint8] | str]]] = deque()
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        for start in range(0, len(origins), size):
            batch = origins[start : start + size]
            coming.append([pool.submit(_attempt, origin, render) for origin in batch])
            if len(coming) > AHEAD:
                yield [future.result() for future in coming.popleft()]
        while coming:
            yield [future.result() for future in coming.popleft()]


def _attempt(origin: Origin, render: Render[Origin]) -> NDArray[np.uint8] | str:
    try:
        pixels = render(origin)
    except FileNotFoundError:
        return f"there is no file {origin!s}"
    except UnidentifiedImageError:
        return "not an image of a known format"
    except MemoryError:
        raise
    except Exception as error:  # A broken file can make a decoder raise anything.
        return str(error) or type(error).__name__
    if pixels.shape != render.shape or pixels.dtype != np.uint8:
        raise TypeError(f"{render.identity} gives {pixels.dtype} of shape {pixels.shape}")
    return pixels if pixels.any() else "every pixel is black"
