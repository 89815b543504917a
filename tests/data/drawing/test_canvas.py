import math

import numpy as np
import pytest

from fidal.data.drawing.canvas import MELANIN, Canvas, soft


@pytest.fixture
def canvas() -> Canvas:
    return Canvas(64, np.random.default_rng(0))


def test_coordinates_are_pixel_centres_from_minus_one_to_one(canvas: Canvas) -> None:
    assert canvas.x[0, 0] == canvas.y[0, 0] == pytest.approx(-1 + 1 / 64)
    assert canvas.x[5, -1] == canvas.y[-1, 5] == pytest.approx(1 - 1 / 64)


def test_soft_is_a_step_of_the_given_width() -> None:
    x = np.array([-9, -0.5, -0.25, 0, 0.25, 0.5, 9], dtype=np.float32)
    # t = x + 1/2, t^2 (3 - 2 t): 1/16 x 5/2 at a quarter
    assert soft(x, 1.0) == pytest.approx([0, 0, 0.15625, 0.5, 0.84375, 1, 1])


@pytest.mark.parametrize("cells", [3, 9, 26])
def test_noise_has_mean_zero_and_variance_one(canvas: Canvas, cells: int) -> None:
    fields = np.stack([canvas.noise(cells) for _ in range(200)])
    assert fields.dtype == np.float32
    assert abs(fields.mean()) < 0.1
    assert fields.var() == pytest.approx(1, abs=0.12)


def test_noise_of_more_cells_is_finer(canvas: Canvas) -> None:
    steps = [np.abs(np.diff(canvas.noise(cells), axis=1)).mean() for cells in (3, 9, 26)]
    assert steps == sorted(steps) and steps[0] < 0.2 < steps[2]


def test_turned_coordinates_are_a_rotation(canvas: Canvas) -> None:
    along, across = canvas.turned(math.pi / 2, (0.5, -0.25))
    assert along == pytest.approx(canvas.y + 0.25, abs=1e-6)
    assert across == pytest.approx(-(canvas.x - 0.5), abs=1e-6)
    assert np.hypot(along, across) == pytest.approx(canvas.distance((0.5, -0.25)), abs=1e-6)


def test_stains_dim_by_lambert_and_beer_and_add_up(canvas: Canvas) -> None:
    canvas.stain(np.full((64, 64), 0.5, np.float32), MELANIN)
    canvas.stain(np.full((64, 64), 0.25, np.float32), MELANIN)
    expected = [math.exp(-0.75 * absorbance) for absorbance in MELANIN]
    assert canvas.image[:, 3, 9].tolist() == pytest.approx(expected)


def test_paint_covers_in_shares(canvas: Canvas) -> None:
    cover = np.zeros((64, 64), np.float32)
    cover[2, 3], cover[4, 5] = 1, 0.25
    canvas.paint(cover, (0.2, 0.4, 0.6))
    assert canvas.image[:, 2, 3].tolist() == pytest.approx([0.2, 0.4, 0.6])
    assert canvas.image[:, 4, 5].tolist() == pytest.approx([0.8, 0.85, 0.9])
    assert canvas.image[:, 0, 0].tolist() == [1, 1, 1]


def test_blur_keeps_what_is_flat_and_spreads_what_is_not(canvas: Canvas) -> None:
    canvas.blur(0.1)
    assert canvas.image == pytest.approx(np.ones((3, 64, 64)), abs=1e-5)
    canvas.image[:, 32, 32] = 2
    canvas.blur(0.1)
    spread = canvas.image[0] - 1
    # sigma = 0.1 x 32 pixels; a Gaussian's peak is 1 / (2 pi sigma^2)
    assert spread.sum() == pytest.approx(1, abs=1e-3)
    assert spread[32, 32] == pytest.approx(1 / (2 * math.pi * 3.2**2), rel=1e-3)


def test_everything_stays_float32(canvas: Canvas) -> None:
    canvas.stain(canvas.noise(4), MELANIN)
    canvas.paint(soft(canvas.distance(canvas.spot(0.5)), 0.2), (1, 0, 0))
    canvas.balance(0.1)
    canvas.blur(0.05)
    assert canvas.image.dtype == np.float32
