"""The four sites: who comes to them, what spoils their images, and what their camera does."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

import numpy as np

from fidal.data.drawing.canvas import Canvas, Colour, Range, soft


@dataclass(frozen=True)
class Camera:
    """Light and lens of one clinic."""

    cast: Colour
    """Gain of red, green and blue."""
    light: Range
    """Overall brightness."""
    slope: Range
    """How much brighter one side is than the other."""
    vignette: Range
    """Darkening of the corners."""
    round_field: float
    """Chance that the black rim of a round lens is in the image."""
    zoom: float
    """Magnification of lesions."""
    softness: Range
    """Sigma of the lens's own blur, half image widths."""
    grain: float
    """Standard deviation of the sensor's noise."""


@dataclass(frozen=True)
class Clinic:
    """One site."""

    camera: Camera
    classes: tuple[float, ...]
    """Share of each class among its lesions, in the order of the classes."""
    ood_share: float
    """Share of its pool that does not belong there."""
    artefacts: Mapping[str, float]
    """Share of each kind among what does not belong there."""


CLINICS: Final[Mapping[str, Clinic]] = {
    # Screening: nearly everybody has a harmless mole. Red light, flat, high magnification.
    "harbour": Clinic(
        Camera(
            cast=(1.02, 0.80, 0.76),
            light=(0.85, 1.0),
            slope=(0, 0.15),
            vignette=(0, 0.1),
            round_field=0,
            zoom=1.25,
            softness=(0.012, 0.03),
            grain=0.010,
        ),
        classes=(0.62, 0.23, 0.05, 0.04, 0.015, 0.015, 0.015, 0.015),
        ood_share=0.30,
        artefacts={
            "ruler": 0.15,
            "ink": 0.15,
            "blur": 0.25,
            "bubbles": 0.25,
            "clinical": 0.1,
            "empty": 0.1,
        },
    ),
    # A university hospital: a bit of everything. White light, strong vignette, round lens.
    "meadow": Clinic(
        Camera(
            cast=(1.0, 0.97, 1.0),
            light=(0.8, 1.05),
            slope=(0, 0.2),
            vignette=(0.2, 0.5),
            round_field=0.35,
            zoom=0.9,
            softness=(0.01, 0.025),
            grain=0.012,
        ),
        classes=(0.40, 0.17, 0.14, 0.12, 0.06, 0.05, 0.03, 0.03),
        ood_share=0.38,
        artefacts={
            "ruler": 0.2,
            "ink": 0.15,
            "blur": 0.1,
            "bubbles": 0.1,
            "clinical": 0.35,
            "empty": 0.1,
        },
    ),
    # A surgeon's practice: tumours are sent there. Cool violet light, uneven.
    "summit": Clinic(
        Camera(
            cast=(0.95, 0.85, 1.02),
            light=(0.8, 1.0),
            slope=(0.1, 0.4),
            vignette=(0.05, 0.25),
            round_field=0.1,
            zoom=1.0,
            softness=(0.01, 0.02),
            grain=0.015,
        ),
        classes=(0.24, 0.14, 0.20, 0.16, 0.12, 0.09, 0.03, 0.02),
        ood_share=0.45,
        artefacts={
            "ruler": 0.25,
            "ink": 0.3,
            "blur": 0.1,
            "bubbles": 0.05,
            "clinical": 0.2,
            "empty": 0.1,
        },
    ),
    # A country doctor's old device: dim, yellow, soft, grainy.
    "valley": Clinic(
        Camera(
            cast=(0.92, 0.86, 0.68),
            light=(0.65, 0.9),
            slope=(0.05, 0.3),
            vignette=(0.1, 0.4),
            round_field=0.2,
            zoom=0.8,
            softness=(0.02, 0.035),
            grain=0.020,
        ),
        classes=(0.48, 0.22, 0.14, 0.05, 0.05, 0.03, 0.02, 0.01),
        ood_share=0.25,
        artefacts={
            "ruler": 0.1,
            "ink": 0.1,
            "blur": 0.25,
            "bubbles": 0.15,
            "clinical": 0.25,
            "empty": 0.15,
        },
    ),
}


def photograph(canvas: Canvas, camera: Camera) -> None:
    """Take what is on the canvas through the clinic's light, lens and sensor."""
    canvas.blur(canvas.between(camera.softness))
    along, _ = canvas.turned(canvas.angle())
    light = canvas.between(camera.light) * (1 + canvas.between(camera.slope) * along)
    away = canvas.x**2 + canvas.y**2
    light = light * (1 - canvas.between(camera.vignette) * 0.5 * away)
    if canvas.chance(camera.round_field):
        rim = canvas.distance(canvas.spot(0.08))
        light = light * soft(canvas.between((1.02, 1.25)) - rim, 0.1)
    canvas.image *= light
    canvas.tint(camera.cast)
    canvas.balance(0.03)
    noise = canvas.rng.standard_normal(canvas.image.shape, dtype=np.float32)
    canvas.image += camera.grain * noise
