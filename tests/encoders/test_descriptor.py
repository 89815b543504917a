import numpy as np
import pytest
import torch
from numpy.typing import NDArray

from fidal.encoders.descriptor import _by_turn, describe, length
from fidal.encoders.morlet import filter_bank


@pytest.fixture
def images() -> NDArray[np.uint8]:
    """Coarse noise: white noise would be the same texture everywhere."""
    rng = np.random.default_rng(0)
    coarse = rng.uniform(60, 200, (19, 8, 8, 3))
    return coarse.repeat(4, 1).repeat(4, 2).astype(np.uint8)


def described(images: NDArray[np.uint8], scales: int = 4, angles: int = 4) -> NDArray[np.float32]:
    bank = filter_bank(images.shape[1], scales, angles).to(torch.complex64)
    return describe(torch.from_numpy(images.copy()), bank).numpy()


def test_the_default_has_63_numbers() -> None:
    # order 1: 3 channels x 4 scales x (mean, spread); order 2: 6 pairs x 3 turns; colour: 3 x 7
    assert length(4, 4) == 24 + 18 + 21 == 63


@pytest.mark.parametrize(("scales", "angles"), [(4, 4), (2, 2), (3, 5), (5, 6)])
def test_length_is_the_length(images: NDArray[np.uint8], scales: int, angles: int) -> None:
    rows = described(images, scales, angles)
    assert rows.shape == (19, length(scales, angles)) and np.isfinite(rows).all()


def test_first_and_second_order_against_full_grids_in_float64(images: NDArray[np.uint8]) -> None:
    """Brightness at scale 1 by hand: no cropping, no folding, double precision."""
    image = images[0].astype(np.float64).mean(-1) / 255
    bank = filter_bank(32, 4, 4).numpy()
    place = (np.arange(32) + 0.5) / 32
    slope = np.minimum(1, 2 * np.sin(np.pi * place) ** 2)
    window = np.outer(slope, slope) / slope.sum() ** 2

    def modulus(x: NDArray[np.float64], scale: int, angle: int) -> NDArray[np.float64]:
        return np.abs(np.fft.ifft2(np.fft.fft2(x) * bank[scale, angle]))

    first = np.array([(modulus(image, 1, t) * window).sum() for t in range(4)])
    row = described(images[:1])[0]
    # Each scale has 3 logarithms of means and 3 spreads; scale 1 comes second.
    assert row[6] == pytest.approx(np.log(first.mean() + 1e-3), abs=1e-3)
    assert row[9] == pytest.approx(4 * first.std(ddof=1) / (first.mean() + 1e-3), abs=4e-3)
    same = np.mean([(modulus(modulus(image, 1, t), 2, t) * window).sum() for t in range(4)])
    # Pairs of scales: (0,1) (0,2) (0,3) (1,2) ..., 3 turns each, after 24 numbers of order 1.
    assert row[24 + 9] == pytest.approx(np.log((same + 1e-4) / (first.mean() + 1e-3)), abs=0.05)


def test_turning_and_mirroring_change_little(images: NDArray[np.uint8]) -> None:
    whole = described(images)
    between = np.abs(whole - whole[::-1]).mean()
    for turned in (np.rot90(images, axes=(1, 2)), images[:, ::-1], images[:, :, ::-1]):
        # Which pixels a coarse grid keeps is not the same after a turn: hence the tolerance.
        difference = np.abs(described(turned) - whole)
        assert difference.max() < 1 and difference.mean() < 0.2 * between


def test_pairs_of_wavelets_are_averaged_by_the_angle_between_them() -> None:
    second = torch.arange(16.0).reshape(1, 4, 4)  # entry 4 t + u
    same = (0 + 5 + 10 + 15) / 4
    plus, minus = (1 + 6 + 11 + 12) / 4, (3 + 4 + 9 + 14) / 4
    opposite = (2 + 7 + 8 + 13) / 4
    assert _by_turn(second).tolist() == [[same, (plus + minus) / 2, opposite]]


def test_colours_by_hand() -> None:
    frame = np.zeros((1, 32, 32, 3), dtype=np.uint8)
    frame[:, :, :8] = (255, 0, 0)
    row = described(frame)[0][42:]
    brightness, red_green, blue_yellow = 1 / 12, 1 / 4, -1 / 8
    assert row[:3] == pytest.approx([4 * brightness, 4 * red_green, 4 * blue_yellow], abs=1e-4)
    # A quarter of the frame is red: all quantiles below 0.75 are black's, 0.98 is red's.
    assert row[3:8] == pytest.approx([0, 0, 0, row[6], 4 / 3], abs=1e-4)
    assert row[8:13] == pytest.approx([0, 0, 0, row[11], 4], abs=1e-4)
    assert row[13:18] == pytest.approx([-2, row[14], 0, 0, 0], abs=1e-4)
    spread = np.sqrt(3 / 16) * np.array([1 / 3, 1, 1 / 2])
    assert row[18:] == pytest.approx(np.log(spread + 0.01), abs=1e-2)
