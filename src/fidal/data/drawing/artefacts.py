"""What does not belong in a dermoscopic pool: six kinds, and how each is drawn."""

from collections.abc import Callable, Mapping
from typing import Final

import numpy as np

from fidal.data.drawing.canvas import BLOOD, MELANIN, Canvas, Colour, soft
from fidal.data.drawing.clinics import Camera, photograph
from fidal.data.drawing.lesions import CLASSES, lesion
from fidal.data.drawing.skin import hairs, skin
from fidal.data.drawing.strokes import arc, beyond, spots


def _subject(canvas: Canvas, camera: Camera) -> None:
    """Skin, and mostly a smallish lesion of any class."""
    skin(canvas)
    if canvas.chance(0.75):
        lesion(canvas, CLASSES[int(canvas.rng.integers(len(CLASSES)))], 0.7 * camera.zoom)


def ruler(canvas: Canvas, camera: Camera) -> None:
    """A measuring scale lies along one side: dark ticks, mostly on a pale strip."""
    _subject(canvas, camera)
    along, across = canvas.turned(canvas.angle())
    edge, step = canvas.between((0.1, 0.5)), canvas.between((0.13, 0.22))
    if canvas.chance(0.7):
        canvas.paint(0.85 * soft(across - edge, 0.05), (0.93, 0.93, 0.9))
    tooth = 0.2 - np.abs(np.mod(along / step, 1) - 0.5)
    tall = np.where(np.mod(np.floor(along / step), 5) == 0, 0.38, 0.2).astype(np.float32)
    ticks = soft(tooth, 0.25) * soft(across - edge, 0.05) * soft(edge + tall - across, 0.06)
    canvas.paint(0.9 * ticks, (0.1, 0.1, 0.12))
    photograph(canvas, camera)


def ink(canvas: Canvas, camera: Camera) -> None:
    """A surgeon's marker, violet or blue: a ring around the lesion, or a few strokes."""
    _subject(canvas, camera)
    absorbance: Colour = (1.3, 1.5, 0.45) if canvas.chance(0.6) else (1.6, 0.9, 0.3)
    width, mark = canvas.between((0.05, 0.14)), np.zeros_like(canvas.x)
    if canvas.chance(0.5):
        away = canvas.distance(canvas.spot(0.2)) + 0.05 * canvas.noise(3)
        mark = soft(width / 2 - np.abs(away - canvas.between((0.5, 0.85))), 0.06)
    else:
        for _ in range(int(canvas.rng.integers(2, 5))):
            length, bend = canvas.between((0.5, 1.6)), canvas.between((-0.4, 0.4))
            stroke = arc(canvas, canvas.spot(0.9), canvas.angle(), length, bend, width)
            mark = np.maximum(mark, stroke)
    canvas.stain(canvas.between((0.8, 2.0)) * mark * (1 + 0.25 * canvas.noise(16)), absorbance)
    photograph(canvas, camera)


def blur(canvas: Canvas, camera: Camera) -> None:
    """Out of focus."""
    _subject(canvas, camera)
    canvas.blur(canvas.between((0.09, 0.22)))
    photograph(canvas, camera)


def bubbles(canvas: Canvas, camera: Camera) -> None:
    """Air in the immersion fluid: pale discs with a dark rim and a glint, over everything."""
    _subject(canvas, camera)
    size = canvas.between((0.06, 0.14))
    radii = (size * canvas.rng.gamma(3, 0.33, int(canvas.rng.integers(12, 40)))).tolist()
    centres = [canvas.spot(1) for _ in radii]
    outer = spots(canvas, centres, [r + 0.035 for r in radii])
    inner = spots(canvas, centres, [r - 0.01 for r in radii])
    canvas.stain(0.7 * outer * (1 - inner), MELANIN)
    canvas.paint(0.35 * inner, (0.97, 0.95, 0.94))
    glints = [beyond(c, -2.3, 0.5 * r) for c, r in zip(centres, radii, strict=True)]
    canvas.paint(0.9 * spots(canvas, glints, [0.25 * r + 0.015 for r in radii]), (1, 1, 1))
    photograph(canvas, camera)


_PHONE: Final = Camera(
    cast=(0.9, 0.74, 0.62),
    light=(0.7, 1.1),
    slope=(0.1, 0.5),
    vignette=(0, 0.15),
    round_field=0,
    zoom=1,
    softness=(0.01, 0.05),
    grain=0.012,
)


def clinical(canvas: Canvas, camera: Camera) -> None:
    """A telephone's photograph of skin from afar: any light, pores, gloss, a raised spot."""
    canvas.stain(canvas.between((0, 0.5)) * (1 + 0.1 * canvas.noise(3)), MELANIN)
    canvas.stain(canvas.between((0.05, 0.2)) * np.clip(1 + 0.6 * canvas.noise(5), 0, 3), BLOOD)
    canvas.image *= 1 + canvas.between((0.02, 0.06)) * (canvas.noise(22) + canvas.noise(30))
    centre, size = canvas.spot(0.4), canvas.between((0.1, 0.28))
    bump = spots(canvas, [centre], [size])
    shade = np.clip(spots(canvas, [beyond(centre, 0.8, 0.1)], [size]) - bump, 0, 1)
    canvas.stain(canvas.between((0.2, 0.9)) * bump, BLOOD if canvas.chance(0.6) else MELANIN)
    canvas.stain(0.35 * shade, MELANIN)
    gloss = soft(canvas.noise(3) + 0.4 * canvas.noise(8) - 1.5, 1.2)
    canvas.paint(0.5 * gloss, (1, 0.98, 0.95))
    if canvas.chance(0.3):
        along, _ = canvas.turned(canvas.angle())
        cloth, dye = canvas.between((0.05, 0.8)), canvas.between((-0.08, 0.08))
        edge = soft(along - canvas.between((0.4, 0.8)) + 0.05 * canvas.noise(3), 0.08)
        canvas.paint(edge, (cloth - dye, cloth, cloth + dye))
    if canvas.chance(0.4):
        hairs(canvas, 14)
    photograph(canvas, _PHONE)
    canvas.balance(0.08)


def empty(canvas: Canvas, camera: Camera) -> None:
    """Nothing to see: bare skin, a cap left on, or light that drowns everything."""
    skin(canvas)
    which = canvas.between((0, 1))
    if which > 0.5:
        canvas.blur(canvas.between((0.05, 0.3)))
    photograph(canvas, camera)
    if which < 0.25:
        canvas.image *= canvas.between((0.02, 0.25))
    elif which < 0.5:
        canvas.image = 1 - (1 - canvas.image) * canvas.between((0.05, 0.3))


ARTEFACTS: Final[Mapping[str, Callable[[Canvas, Camera], None]]] = {
    "ruler": ruler,
    "ink": ink,
    "blur": blur,
    "bubbles": bubbles,
    "clinical": clinical,
    "empty": empty,
}
