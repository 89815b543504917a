"""The canvas of one drawing: coordinates, smooth noise, and the two ways to put colour on it."""

import math
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

Field = NDArray[np.floating[Any]]
"""One number per pixel, H x W, float32."""
Colour = tuple[float, float, float]
Point = tuple[float, float]
Range = tuple[float, float]
"""Where a uniformly drawn parameter lies."""

MELANIN: Colour = (0.55, 1.0, 1.35)
"""Absorbance of brown pigment for red, green and blue light."""
BLOOD: Colour = (0.2, 1.0, 0.75)
"""Absorbance of blood near the surface."""


@lru_cache(maxsize=8)
def _axes(pixels: int) -> tuple[Field, Field]:
    line = ((np.arange(pixels) + 0.5) * 2 / pixels - 1).astype(np.float32)
    x, y = np.meshgrid(line, line)
    x.setflags(write=False)
    y.setflags(write=False)
    return x, y


@lru_cache(maxsize=64)
def _spline(pixels: int, cells: int) -> Field:
    """Cubic B-spline weights of `pixels` positions over `cells` cells, pixels x (cells + 3)."""
    at = (np.arange(pixels) + 0.5) * cells / pixels
    t = np.abs(at[:, None] - np.arange(-1, cells + 2)[None])
    near, far = (4 - 6 * t**2 + 3 * t**3) / 6, (2 - t) ** 3 / 6
    weights = np.where(t < 1, near, np.where(t < 2, far, 0))
    # White noise on the knots keeps unit variance, on the average over the positions.
    weights /= np.sqrt((weights**2).sum(1).mean())
    return weights.astype(np.float32)


@lru_cache(maxsize=64)
def _gaussian(pixels: int, sigma: float) -> Field:
    """Gaussian smoothing of one axis as a matrix, pixels x pixels."""
    at = np.arange(pixels)
    weights = np.exp(-0.5 * ((at[:, None] - at[None]) / sigma) ** 2)
    weights /= weights.sum(1, keepdims=True)
    # Numbers too small for float32's normal range add nothing and make a product 20 times slower.
    return np.where(weights < np.finfo(np.float32).tiny, 0, weights).astype(np.float32)


def _three(colour: Colour) -> Field:
    return np.array(colour, dtype=np.float32)[:, None, None]


def soft(x: Field, width: float) -> Field:
    """A smooth step from 0 to 1 as x goes from -width/2 to +width/2."""
    t = np.clip(x / width + 0.5, 0, 1)
    step: Field = t * t * (3 - 2 * t)
    return step


class Canvas:
    """An image in the making, values 0..1, with the generator that decides everything on it."""

    def __init__(self, pixels: int, rng: np.random.Generator) -> None:
        self.pixels = pixels
        self.rng = rng
        self.x, self.y = _axes(pixels)
        """Coordinates from -1 to 1 to the right and downwards, H x W."""
        self.image: Field = np.ones((3, pixels, pixels), dtype=np.float32)
        """Red, green and blue, 3 x H x W."""

    def between(self, limits: Range) -> float:
        """A number, uniform between the limits."""
        return float(self.rng.uniform(*limits))

    def chance(self, probability: float) -> bool:
        """True with this probability."""
        return bool(self.rng.random() < probability)

    def angle(self) -> float:
        """Any direction, radians."""
        return self.between((0, 2 * math.pi))

    def spot(self, reach: float) -> Point:
        """A point at most `reach` away from the middle, sideways and upwards."""
        return self.between((-reach, reach)), self.between((-reach, reach))

    def turned(self, angle: float, origin: Point = (0.0, 0.0)) -> tuple[Field, Field]:
        """Coordinates along and across the direction `angle`, seen from `origin`."""
        dx, dy = self.x - origin[0], self.y - origin[1]
        cos, sin = math.cos(angle), math.sin(angle)
        return dx * cos + dy * sin, dy * cos - dx * sin

    def distance(self, origin: Point) -> Field:
        """How far each pixel is from a point."""
        away: Field = np.hypot(self.x - origin[0], self.y - origin[1])
        return away

    def noise(self, cells: int) -> Field:
        """Smooth noise, mean 0 and variance 1, with `cells` independent patches along a side."""
        weights = _spline(self.pixels, cells)
        knots = self.rng.standard_normal((cells + 3, cells + 3), dtype=np.float32)
        field: Field = weights @ knots @ weights.T
        return field

    def stain(self, density: Field, absorbance: Colour) -> None:
        """Lambert and Beer: light that passes a pigment is dimmed by exp(-density x absorbance)."""
        self.image *= np.exp(-density * _three(absorbance))

    def tint(self, gains: Colour) -> None:
        """Multiply red, green and blue."""
        self.image *= _three(gains)

    def balance(self, spread: float) -> None:
        """Tint at random: each gain is exp(spread x normal)."""
        red, green, blue = np.exp(spread * self.rng.standard_normal(3)).tolist()
        self.tint((red, green, blue))

    def paint(self, cover: Field, colour: Colour) -> None:
        """Cover what is there by an opaque colour, in shares 0..1."""
        self.image += cover * (_three(colour) - self.image)

    def blur(self, sigma: float) -> None:
        """Gaussian blur; sigma in half image widths, so that it does not depend on `pixels`."""
        weights = _gaussian(self.pixels, max(round(sigma * self.pixels / 2, 2), 0.05))
        self.image = weights @ self.image @ weights.T
