import math

import numpy as np
import pytest
from scipy.ndimage import maximum_filter

from fidal.data.drawing.canvas import Canvas
from fidal.data.drawing.strokes import arc, arc_end, beyond, honeycomb, spots


@pytest.fixture
def canvas() -> Canvas:
    return Canvas(64, np.random.default_rng(0))


def at(field: np.ndarray, x: float, y: float) -> float:
    return float(field[int((y + 1) * 32), int((x + 1) * 32)])


def test_a_straight_arc_covers_its_line_and_nothing_else(canvas: Canvas) -> None:
    cover = arc(canvas, (-0.5, 0.0), 0.0, 1.0, 0.0, 0.2)
    assert cover.dtype == np.float32 and cover.min() == 0 and cover.max() == 1
    assert at(cover, 0, 0) == at(cover, -0.4, 0.05) == at(cover, 0.4, -0.05) == 1
    assert at(cover, 0, 0.2) == at(cover, -0.7, 0) == at(cover, 0.7, 0) == 0


def test_a_bent_arc_ends_where_arc_end_says(canvas: Canvas) -> None:
    start, angle, length, bend = (-0.5, -0.3), 0.6, 0.9, 0.4
    x, y = arc_end(start, angle, length, bend)
    along, across = length, bend * length**2
    assert x == pytest.approx(-0.5 + along * math.cos(0.6) - across * math.sin(0.6))
    assert y == pytest.approx(-0.3 + along * math.sin(0.6) + across * math.cos(0.6))
    cover = arc(canvas, start, angle, length, bend, 0.15)
    nearly = arc_end(start, angle, 0.9 * length, bend)
    after = arc_end(start, angle, 1.2 * length, bend)
    assert at(cover, *nearly) == 1 and at(cover, *after) == 0


def test_a_line_thinner_than_a_pixel_gets_fainter(canvas: Canvas) -> None:
    peaks = [arc(canvas, (-0.9, 0.015), 0, 1.8, 0, width).max() for width in (0.1, 0.02, 0.008)]
    assert peaks[0] == 1 > peaks[1] > peaks[2] > 0


def test_beyond_goes_in_a_direction() -> None:
    assert beyond((1, 2), math.pi / 2, 3) == pytest.approx((1, 5))


def test_spots_are_the_union_of_discs(canvas: Canvas) -> None:
    cover = spots(canvas, [(-0.5, 0), (0.5, 0.5)], [0.3, 0.1])
    assert at(cover, -0.5, 0) == at(cover, -0.3, 0) == at(cover, 0.5, 0.5) == 1
    assert at(cover, 0, 0) == at(cover, 0.5, -0.5) == 0
    assert cover.sum() * (2 / 64) ** 2 == pytest.approx(math.pi * (0.09 + 0.01), rel=0.05)
    assert spots(canvas, [], []).max() == 0


def test_a_honeycomb_has_peaks_of_three_and_lines_of_minus_one_and_a_half(canvas: Canvas) -> None:
    field = honeycomb(canvas, 0.3)
    assert field.max() == pytest.approx(3, abs=0.1)
    assert field.min() == pytest.approx(-1.5, abs=0.05)


def test_a_honeycomb_has_as_many_holes_as_its_period_says(canvas: Canvas) -> None:
    peaks = 0
    for _ in range(20):
        field = honeycomb(canvas, 0.3)
        highest = maximum_filter(field, size=3)
        peaks += int(((field == highest) & (field > 1.5))[1:-1, 1:-1].sum())
    # A hexagonal grid of distance d has one hole per d^2 sqrt(3) / 2.
    assert peaks / 20 == pytest.approx(4 / (0.3**2 * math.sqrt(3) / 2), rel=0.2)
