"""Bare skin as a dermatoscope sees it, and the hairs that grow on it."""

import numpy as np

from fidal.data.drawing.canvas import BLOOD, MELANIN, Canvas
from fidal.data.drawing.strokes import arc, beyond


def skin(canvas: Canvas) -> None:
    """Skin of a random tone with uneven blood, fine furrows and, at times, freckles."""
    canvas.tint((0.97, 0.86, 0.82))
    tone, flush = canvas.between((0.02, 0.25)), canvas.between((0.02, 0.22))
    canvas.stain(tone * (1 + 0.1 * canvas.noise(5)), MELANIN)
    canvas.stain(flush * (1 + 0.3 * canvas.noise(4) + 0.3 * canvas.noise(14)), BLOOD)
    canvas.stain(canvas.between((0.01, 0.05)) * np.abs(canvas.noise(26)), MELANIN)
    if canvas.chance(0.3):
        freckles = np.clip(canvas.noise(9) - 1.3, 0, 1)
        canvas.stain(canvas.between((0.1, 0.35)) * freckles, MELANIN)


def hairs(canvas: Canvas, most: int = 9) -> None:
    """One to `most` hairs, roughly in one direction, all of one colour."""
    direction, spread = canvas.angle(), canvas.between((0.1, 0.6))
    density, width = canvas.between((0.5, 2.5)), canvas.between((0.012, 0.035))
    for _ in range(int(canvas.rng.integers(1, most + 1))):
        angle = direction + spread * float(canvas.rng.standard_normal())
        length, bend = canvas.between((0.5, 1.8)), canvas.between((-0.4, 0.4))
        start = beyond(canvas.spot(1.1), angle, -length / 2)
        canvas.stain(density * arc(canvas, start, angle, length, bend, width), MELANIN)
