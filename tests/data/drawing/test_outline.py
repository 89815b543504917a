import numpy as np
import pytest

from fidal.data.drawing.canvas import Canvas
from fidal.data.drawing.outline import Body, Outline, place

SEEDS = range(5)


def placed(seed: int = 0, zoom: float = 1.0, pixels: int = 128, **choices: object) -> Body:
    """A smooth disc of radius 0.5 with a sharp border, unless chosen otherwise."""
    disc = {"size": (0.5, 0.5), "elongation": (1, 1), "raggedness": (0, 0), "edge": (0.02, 0.02)}
    outline = Outline(**{**disc, **choices})  # type: ignore[arg-type]
    return place(Canvas(pixels, np.random.default_rng(seed)), outline, zoom)


def axes(body: Body) -> tuple[float, float]:
    """Half axes of the ellipse with the second moments of the body, long before short."""
    canvas = Canvas(len(body.inside), np.random.default_rng(0))
    points = np.stack([canvas.x.ravel(), canvas.y.ravel()])
    spread = np.cov(points, aweights=body.inside.ravel())
    short, long = 2 * np.sqrt(np.linalg.eigvalsh(spread))  # a disc's variance is radius^2 / 4
    return float(long), float(short)


@pytest.mark.parametrize("seed", SEEDS)
def test_an_outline_has_the_size_it_says(seed: int) -> None:
    body = placed(seed, elongation=(2, 2))
    assert body.size == 0.5
    # An ellipse of half axes r sqrt(2) and r / sqrt(2) has the area of the circle.
    assert body.inside.mean() * 4 == pytest.approx(np.pi * 0.25, rel=0.05)


@pytest.mark.parametrize("ratio", [1.0, 1.5, 2.0])
def test_elongation_is_long_over_short(ratio: float) -> None:
    long, short = axes(placed(elongation=(ratio, ratio), size=(0.4, 0.4)))
    assert long / short == pytest.approx(ratio, rel=0.02)
    assert long * short == pytest.approx(0.4**2, rel=0.04)


def test_zoom_multiplies_the_size_and_nothing_else() -> None:
    small, large = placed(zoom=0.5), placed(zoom=1.0)
    assert (small.size, large.size) == (0.25, 0.5)
    assert small.centre == large.centre
    assert large.inside.sum() == pytest.approx(4 * small.inside.sum(), rel=0.05)


def test_a_body_lies_somewhere_near_the_middle() -> None:
    centres = np.array([placed(seed, pixels=32).centre for seed in range(40)])
    assert np.abs(centres).max() <= 0.22
    assert (centres.min(0) < -0.1).all() and (centres.max(0) > 0.1).all()


@pytest.mark.parametrize("seed", SEEDS)
def test_depth_is_one_in_the_middle_zero_on_the_border_and_below_outside(seed: int) -> None:
    body = placed(seed)
    away = Canvas(128, np.random.default_rng(0)).distance(body.centre)
    np.testing.assert_allclose(body.depth, 1 - away / 0.5, atol=1e-5)
    assert body.inside.min() == 0 and body.inside.max() == 1
    half = body.inside > 0.5
    assert (body.depth[half] > 0).all() and (body.depth[~half] <= 0).all()


def test_a_wide_edge_fades() -> None:
    def between(edge: float) -> float:
        inside = placed(edge=(edge, edge)).inside
        return float(((inside > 0.05) & (inside < 0.95)).mean())

    assert between(0.3) > 5 * between(0.03)


def test_a_ragged_border_is_longer() -> None:
    def border(raggedness: float) -> float:
        bodies = [
            placed(seed, pixels=64, raggedness=(raggedness, raggedness), edge=(0.05, 0.05))
            for seed in range(10)
        ]
        return float(np.mean([np.abs(np.diff(body.inside, axis=0)).sum() for body in bodies]))

    assert border(0.6) > 1.2 * border(0.0)


def test_a_second_lobe_adds_to_the_body_and_makes_it_lopsided() -> None:
    canvas = Canvas(64, np.random.default_rng(0))
    added, off = [], []
    for seed in range(20):
        one, two = (placed(seed, pixels=64, size=(0.35, 0.35), lobes=x) for x in (0.0, 1.0))
        assert two.centre == one.centre
        assert (two.inside - one.inside).min() > -1e-6  # nothing of the first half is lost
        added.append(two.inside.sum() / one.inside.sum() - 1)
        middle = [np.average(axis, weights=two.inside) for axis in (canvas.x, canvas.y)]
        off.append(np.hypot(middle[0] - two.centre[0], middle[1] - two.centre[1]))
    assert np.mean(added) > 0.04 and np.mean(off) > 0.015
