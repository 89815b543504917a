"""The outline of a lesion: where it is, and how ragged and how sharp its border is."""

import math
from dataclasses import dataclass

import numpy as np

from fidal.data.drawing.canvas import Canvas, Field, Point, Range, soft
from fidal.data.drawing.strokes import beyond


@dataclass(frozen=True)
class Outline:
    """How the border of one kind of lesion may be."""

    size: Range
    """Radius in half image widths."""
    elongation: Range
    """Long over short axis."""
    raggedness: Range
    """How far noise pushes the border, in radii."""
    edge: Range
    """Width of the border's transition, in radii."""
    lobes: float = 0.0
    """Chance that a second, unequal half makes it asymmetric."""


@dataclass(frozen=True, eq=False)
class Body:
    """A lesion's place on the canvas."""

    inside: Field
    """1 within, 0 without, H x W."""
    depth: Field
    """1 in the middle, 0 on the border, negative outside, H x W."""
    centre: Point
    size: float


def place(canvas: Canvas, outline: Outline, zoom: float = 1.0) -> Body:
    """A body with this outline somewhere near the middle."""
    size, centre, angle = zoom * canvas.between(outline.size), canvas.spot(0.22), canvas.angle()
    ratio = math.sqrt(canvas.between(outline.elongation))
    depth = _ellipse(canvas, centre, angle, size * ratio, size / ratio)
    if canvas.chance(outline.lobes):
        half = canvas.between((0.45, 0.8))
        beside = beyond(centre, canvas.angle(), size * canvas.between((0.5, 0.9)))
        other = _ellipse(canvas, beside, canvas.angle(), half * size, 0.75 * half * size)
        depth = np.maximum(depth, half * other)
    waves = 0.6 * canvas.noise(4) + 0.4 * canvas.noise(9) + 0.15 * canvas.noise(18)
    depth = depth + canvas.between(outline.raggedness) * waves * np.clip(1.3 - depth, 0, 1)
    inside = soft(depth, 2 * canvas.between(outline.edge))
    return Body(inside, depth, centre, size)


def _ellipse(canvas: Canvas, centre: Point, angle: float, long: float, short: float) -> Field:
    along, across = canvas.turned(angle, centre)
    depth: Field = 1 - np.hypot(along / long, across / short)
    return depth
