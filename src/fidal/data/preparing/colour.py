"""Opening an image that must be 8-bit colour."""

from collections.abc import Collection
from pathlib import Path

import numpy as np
from PIL import Image


def open_colour(path: Path, modes: Collection[str]) -> Image.Image:
    """The image as RGB. `modes` are Pillow's names of what it may be in the file; an .npy file
    holds H x W x 3 bytes. Orientation tags are not obeyed: the originals' own tools do not either.
    """
    if path.suffix == ".npy":
        array = np.load(path, allow_pickle=False)
        if array.dtype != np.uint8 or array.ndim != 3 or array.shape[2] != 3:
            raise ValueError(f"{array.dtype} of shape {array.shape}; 8-bit colour is expected")
        return Image.fromarray(array)
    with Image.open(path) as image:
        if image.mode not in modes:
            raise ValueError(f"pixels of mode {image.mode}; 8-bit colour is expected")
        return image.convert("RGB")
