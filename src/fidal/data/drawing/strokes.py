"""Marks with a place of their own: arcs (hairs, vessels, ink) and spots (dots, cysts, bubbles)."""

import math
from collections.abc import Sequence

import numpy as np

from fidal.data.drawing.canvas import Canvas, Field, Point, soft


def arc(
    canvas: Canvas,
    start: Point,
    angle: float,
    length: float,
    bend: float,
    width: float,
) -> Field:
    """A parabolic arc from `start` in the direction `angle`: cover 0..1, H x W."""
    pixel = 2 / canvas.pixels
    along, across = canvas.turned(angle, start)
    distance = np.abs(across - bend * along * along) / np.sqrt(1 + (2 * bend * along) ** 2)
    ends = soft(along, 2 * pixel) * soft(length - along, 2 * pixel)
    # A line thinner than a pixel gets fainter instead of thinner.
    cover: Field = soft(width / 2 - distance, 1.5 * pixel) * ends * min(1.0, width / pixel + 0.3)
    return cover


def beyond(point: Point, angle: float, away: float) -> Point:
    """The point `away` from another in a direction."""
    return point[0] + away * math.cos(angle), point[1] + away * math.sin(angle)


def arc_end(start: Point, angle: float, length: float, bend: float) -> Point:
    """Where an arc is after `length`."""
    return beyond(beyond(start, angle, length), angle + math.pi / 2, bend * length**2)


def spots(canvas: Canvas, centres: Sequence[Point], radii: Sequence[float]) -> Field:
    """Union of soft discs: n centres, n radii; cover 0..1, H x W."""
    inside = np.full_like(canvas.x, -1)
    for centre, radius in zip(centres, radii, strict=True):
        np.maximum(inside, radius - canvas.distance(centre), out=inside)
    return soft(inside, 3 / canvas.pixels)


def honeycomb(canvas: Canvas, period: float) -> Field:
    """Three waves at 60 degrees, bent by noise: peaks of 3 in the holes, -1.5 on the lines."""
    bend = canvas.between((0.25, 0.5)) * period
    x = canvas.x + bend * canvas.noise(8)
    y = canvas.y + bend * canvas.noise(8)
    turn, first, third = canvas.angle(), canvas.angle(), canvas.angle()
    # Wave fronts sqrt(3)/2 periods apart make holes one period apart.
    frequency = 4 * math.pi / (math.sqrt(3) * period)
    field = np.zeros_like(x)
    # The middle wave is the product of the outer two: only then do all three peak together.
    for k, phase in enumerate((first, first + third, third)):
        angle = turn + k * math.pi / 3
        field += np.cos(frequency * math.cos(angle) * x + frequency * math.sin(angle) * y + phase)
    return field
