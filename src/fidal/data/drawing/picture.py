"""One image of the phantom benchmark, from what it shows, who took it and a generator."""

import numpy as np
from numpy.typing import NDArray

from fidal.data.drawing.artefacts import ARTEFACTS
from fidal.data.drawing.canvas import Canvas
from fidal.data.drawing.clinics import Camera, photograph
from fidal.data.drawing.lesions import lesion
from fidal.data.drawing.skin import hairs, skin


def picture(
    subject: str, camera: Camera, pixels: int, rng: np.random.Generator
) -> NDArray[np.uint8]:
    """A class's name or an artefact's -> an image, pixels x pixels x 3."""
    canvas = Canvas(pixels, rng)
    if subject in ARTEFACTS:
        ARTEFACTS[subject](canvas, camera)
    else:
        skin(canvas)
        lesion(canvas, subject, camera.zoom)
        if canvas.chance(0.3):
            hairs(canvas)
        photograph(canvas, camera)
    image: NDArray[np.uint8] = (canvas.image.clip(0, 1) * 255 + 0.5).astype(np.uint8)
    return image.transpose(1, 2, 0)
