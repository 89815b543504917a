"""Dermoscopic structures inside a lesion. Each is a function of canvas, body and strength 0..1."""

import math

import numpy as np

from fidal.data.drawing.canvas import BLOOD, MELANIN, Canvas, Colour, Field, Range, soft
from fidal.data.drawing.outline import Body
from fidal.data.drawing.strokes import arc, arc_end, beyond, honeycomb, spots

BLUE: Colour = (1.35, 1.0, 0.55)
"""Absorbance of pigment that lies deep: the skin above it scatters the blue back."""


def _scatter(canvas: Canvas, body: Body, n: Range, radii: Range, reach: float) -> Field:
    """Some n spots within `reach` radii of the middle."""
    centres = []
    for _ in range(round(canvas.between(n))):
        away = reach * body.size * math.sqrt(canvas.between((0, 1)))
        centres.append(beyond(body.centre, canvas.angle(), away))
    return spots(canvas, centres, [canvas.between(radii) for _ in centres])


def network(canvas: Canvas, body: Body, strength: float) -> None:
    """Pigment network: a brown honeycomb that fades towards the border."""
    lines = soft(-0.1 - honeycomb(canvas, canvas.between((0.13, 0.19))), 1.6)
    uneven = np.clip(1 + 0.5 * canvas.noise(4), 0, 2)
    canvas.stain(1.15 * strength * lines * body.inside * uneven, MELANIN)


def globules(canvas: Canvas, body: Body, strength: float) -> None:
    """Cobblestones: the holes of the same honeycomb, filled."""
    holes = soft(honeycomb(canvas, canvas.between((0.15, 0.24))) - 1.1, 1.4)
    canvas.stain(1.3 * strength * holes * body.inside, MELANIN)


def dots(canvas: Canvas, body: Body, strength: float) -> None:
    """A handful of black dots without any order."""
    field = _scatter(canvas, body, (4, 15), (0.015, 0.05), 0.95)
    canvas.stain(2.2 * strength * field, MELANIN)


def blotch(canvas: Canvas, body: Body, strength: float) -> None:
    """A dark area without structure, off the middle."""
    where = soft(canvas.noise(3) + 0.5 * body.depth - 0.5, 0.9)
    canvas.stain(1.6 * strength * where * body.inside, MELANIN)


def veil(canvas: Canvas, body: Body, strength: float) -> None:
    """Blue-white veil: a confluent, cloudy, grey-blue area."""
    where = soft(canvas.noise(3) + body.depth - 0.4, 1.2) * body.inside
    canvas.stain(1.2 * strength * where, BLUE)
    canvas.paint(0.4 * strength * where, (0.66, 0.7, 0.82))


def regression(canvas: Canvas, body: Body, strength: float) -> None:
    """A scar-like, paler part."""
    where = soft(canvas.noise(4) - 0.4, 1.0) * body.inside
    canvas.paint(0.7 * strength * where, (0.93, 0.8, 0.78))


def scar(canvas: Canvas, body: Body, strength: float) -> None:
    """A white patch in the middle with a fine, fading brown rim."""
    middle = soft(body.depth - canvas.between((0.4, 0.6)) + 0.08 * canvas.noise(6), 0.4)
    canvas.paint(0.9 * strength * middle, (0.95, 0.87, 0.86))


def cysts(canvas: Canvas, body: Body, strength: float) -> None:
    """Milia-like cysts, white, and comedo-like openings, brown."""
    openings = _scatter(canvas, body, (2, 7), (0.03, 0.07), 0.85)
    canvas.stain(1.5 * strength * openings, MELANIN)
    milia = _scatter(canvas, body, (4, 13), (0.015, 0.045), 0.9)
    canvas.paint(0.9 * strength * milia, (0.97, 0.93, 0.84))


def ridges(canvas: Canvas, body: Body, strength: float) -> None:
    """Gyri and sulci: winding ridges, like a brain's."""
    winding = soft(0.45 - np.abs(canvas.noise(9)), 0.5)
    canvas.stain(0.9 * strength * winding * body.inside, MELANIN)


def vessels(canvas: Canvas, body: Body, strength: float) -> None:
    """Arborising vessels: a bright red trunk that branches into finer ones."""
    field = np.zeros_like(canvas.x)
    for _ in range(int(canvas.rng.integers(1, 4))):
        at, bend = canvas.angle(), canvas.between((-0.5, 0.5))
        start = beyond(body.centre, at, 0.9 * body.size)
        angle, length = at + canvas.between((2.6, 3.7)), body.size * canvas.between((0.9, 1.5))
        field = np.maximum(field, arc(canvas, start, angle, length, bend, 0.06))
        for _ in range(3):
            fork = arc_end(start, angle, canvas.between((0.2, 0.9)) * length, bend)
            turn = angle + canvas.between((0.4, 1.1)) * (1 if canvas.chance(0.5) else -1)
            twig = arc(canvas, fork, turn, 0.5 * length, canvas.between((-1, 1)), 0.035)
            field = np.maximum(field, twig)
    canvas.stain(1.5 * strength * field, BLOOD)


def nests(canvas: Canvas, body: Body, strength: float) -> None:
    """Blue-grey ovoid nests."""
    field = _scatter(canvas, body, (2, 6), (0.05, 0.13), 0.85)
    canvas.stain(1.1 * strength * field, BLUE)


def lacunae(canvas: Canvas, body: Body, strength: float) -> None:
    """Red to maroon lakes, packed, with pale septa."""
    lakes = soft(honeycomb(canvas, canvas.between((0.2, 0.34))) + 0.2, 1.2) * body.inside
    dark = canvas.between((0, 0.8)) * strength
    canvas.stain(1.4 * strength * lakes, BLOOD)
    canvas.stain(dark * lakes, BLUE)


def strawberry(canvas: Canvas, body: Body, strength: float) -> None:
    """Red pseudo-network around white, dotted follicles."""
    field = honeycomb(canvas, canvas.between((0.2, 0.32)))
    canvas.stain(0.9 * strength * soft(0.6 - field, 1.6) * body.inside, BLOOD)
    canvas.paint(0.5 * strength * soft(field - 1.7, 1.0) * body.inside, (0.96, 0.9, 0.82))


def scale(canvas: Canvas, body: Body, strength: float) -> None:
    """White-yellow scales on the surface."""
    flakes = soft(canvas.noise(13) - 0.9, 0.9) * body.inside
    canvas.paint(0.8 * strength * flakes, (0.96, 0.92, 0.8))
