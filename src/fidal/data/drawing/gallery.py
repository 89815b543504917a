"""Many drawings at once, kept on disk."""

import hashlib
import json
import logging
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Final

import numpy as np
from numpy.typing import NDArray

from fidal.arrays import keep, kept
from fidal.data.drawing.clinics import Camera
from fidal.data.drawing.picture import picture
from fidal.seeds import numpy_generator

log = logging.getLogger(__name__)

VERSION: Final = 1
"""Raise it when anything in this folder changes what is drawn: old files are then not used."""


@dataclass(frozen=True)
class Commission:
    """One image to be drawn; it depends on nothing else."""

    subject: str
    """A class or a kind of artefact."""
    camera: Camera
    purpose: tuple[str | int, ...]
    """What its random generator is made from."""


def gallery(commissions: Sequence[Commission], pixels: int, cache: Path) -> NDArray[np.uint8]:
    """The images in order, n x pixels x pixels x 3; drawn unless they are in `cache`."""
    path = cache / "phantom" / f"{_key(commissions, pixels)}.npz"
    shape = (len(commissions), pixels, pixels, 3)
    found = kept(path, shape, np.uint8)
    if found is not None:
        return found
    log.info("drawing %d images", len(commissions))
    images = np.empty(shape, dtype=np.uint8)
    for row, order in enumerate(commissions):
        generator = numpy_generator("phantom", *order.purpose)
        images[row] = picture(order.subject, order.camera, pixels, generator)
    keep(path, images)
    return images


def _key(commissions: Sequence[Commission], pixels: int) -> str:
    content = json.dumps([VERSION, pixels, [asdict(order) for order in commissions]])
    return hashlib.sha256(content.encode()).hexdigest()[:40]
