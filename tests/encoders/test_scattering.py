import numpy as np
import pytest
import torch
from numpy.typing import NDArray
from pydantic import ValidationError

from fidal.encoders import ENCODERS
from fidal.encoders.morlet import filter_bank
from fidal.encoders.scattering import BATCH, Scattering, _by_turn


@pytest.fixture
def images() -> NDArray[np.uint8]:
    """Smooth noise of several contrasts: white noise would have no coarse structure."""
    rng = np.random.default_rng(0)
    coarse = rng.uniform(60, 200, (2 * BATCH + 3, 8, 8, 3))
    return coarse.repeat(4, 1).repeat(4, 2).astype(np.uint8)


def test_the_registry_knows_it() -> None:
    assert ENCODERS["scattering"] is Scattering


@pytest.mark.parametrize(("scales", "angles"), [(4, 4), (2, 2), (3, 5), (5, 6)])
def test_rows_are_finite_and_as_long_as_dimension(
    images: NDArray[np.uint8], scales: int, angles: int
) -> None:
    encoder = Scattering(scales=scales, angles=angles)
    rows = encoder.encode(images)
    assert rows.dtype == np.float32 and rows.shape == (len(images), encoder.dimension)
    assert np.isfinite(rows).all()


def test_black_white_and_flat_frames_stay_finite() -> None:
    frames = np.zeros((3, 64, 64, 3), dtype=np.uint8)
    frames[1], frames[2] = 255, 127
    assert np.isfinite(Scattering().encode(frames)).all()


def test_the_default_has_64_numbers() -> None:
    # order 1: 3 channels x 4 scales x (mean, spread); order 2: 6 pairs x 3 turns; colour: 3 x 7
    assert Scattering().dimension == 24 + 18 + 21 + 1 == 64


def test_a_row_does_not_depend_on_the_others(images: NDArray[np.uint8]) -> None:
    encoder = Scattering()
    whole = encoder.encode(images)
    alone = np.concatenate([encoder.encode(images[i : i + 1]) for i in range(len(images))])
    assert np.allclose(whole, alone, atol=1e-4)
    assert encoder.encode(images[:0]).shape == (0, 64)


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
    row = Scattering().encode(images[:1])[0]
    # Each scale has 3 logarithms of means and 3 spreads; scale 1 comes second.
    assert row[6] == pytest.approx(np.log(first.mean() + 1e-3), abs=1e-3)
    assert row[9] == pytest.approx(first.std(ddof=1) / (first.mean() + 1e-3), abs=1e-3)
    same = np.mean([(modulus(modulus(image, 1, t), 2, t) * window).sum() for t in range(4)])
    # Pairs of scales: (0,1) (0,2) (0,3) (1,2) ..., 3 turns each, after 24 numbers of order 1.
    assert row[24 + 9] == pytest.approx(np.log((same + 1e-4) / (first.mean() + 1e-3)), abs=0.05)


def test_turning_and_mirroring_change_nothing(images: NDArray[np.uint8]) -> None:
    encoder = Scattering()
    whole = encoder.encode(images)
    for turned in (np.rot90(images, axes=(1, 2)), images[:, ::-1], images[:, :, ::-1]):
        # Which pixels a coarse grid keeps is not the same after a turn: hence the tolerance.
        difference = np.abs(encoder.encode(turned) - whole)
        assert difference.max() < 0.25 and difference.mean() < 0.02
    assert np.abs(whole - whole[::-1]).mean() > 0.1


def test_pairs_of_wavelets_are_averaged_by_the_angle_between_them() -> None:
    second = torch.arange(16.0).reshape(1, 4, 4)  # entry 4 t + u
    same = (0 + 5 + 10 + 15) / 4
    plus, minus = (1 + 6 + 11 + 12) / 4, (3 + 4 + 9 + 14) / 4
    opposite = (2 + 7 + 8 + 13) / 4
    assert _by_turn(second).tolist() == [[same, (plus + minus) / 2, opposite]]


def test_colours_are_told_apart() -> None:
    frames = np.zeros((2, 32, 32, 3), dtype=np.uint8)
    frames[0, ..., 0], frames[1, ..., 2] = 200, 200
    red, blue = Scattering().encode(frames)
    assert np.abs(red - blue).max() > 3


def test_the_anchor_is_the_last_coordinate_and_keeps_contrast_after_normalisation() -> None:
    rng = np.random.default_rng(0)
    faint = (128 + rng.normal(size=(1, 32, 32, 3))).astype(np.uint8)
    strong = (128 + 30 * rng.normal(size=(1, 32, 32, 3))).astype(np.uint8)
    rows = Scattering(anchor=30).encode(np.concatenate([faint, strong]))
    assert (rows[:, -1] == 30).all()
    unit = rows / np.linalg.norm(rows, axis=1, keepdims=True)
    distance = np.linalg.norm(rows[0] - rows[1])
    assert np.linalg.norm(unit[0] - unit[1]) * 30 > 0.5 * distance


def test_identity_tells_parameters_apart() -> None:
    encoders = [Scattering(), Scattering(scales=3), Scattering(angles=6), Scattering(anchor=1)]
    assert len({encoder.identity for encoder in encoders}) == 4
    assert Scattering().identity == Scattering(scales=4).identity


def test_images_that_do_not_fit_are_named() -> None:
    with pytest.raises(ValueError, match=r"multiple of 16; got 40 x 40: resize, or set scales"):
        Scattering().encode(np.zeros((1, 40, 40, 3), np.uint8))
    with pytest.raises(ValueError, match=r"square images .* got 32 x 64"):
        Scattering().encode(np.zeros((1, 32, 64, 3), np.uint8))
    with pytest.raises(ValueError, match=r"takes uint8 images.*got float32"):
        Scattering().encode(np.zeros((1, 32, 32, 3), np.float32))  # type: ignore[arg-type]
    with pytest.raises(ValueError, match=r"shape \(1, 32, 32, 1\)"):
        Scattering().encode(np.zeros((1, 32, 32, 1), np.uint8))
    with pytest.raises(ValidationError):
        Scattering(scales=1)


def test_images_are_not_modified_and_may_be_read_only(images: NDArray[np.uint8]) -> None:
    before = images.copy()
    images.setflags(write=False)
    Scattering().encode(images)
    assert np.array_equal(images, before)
