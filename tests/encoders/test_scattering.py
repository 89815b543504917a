import math

import numpy as np
import pytest
import torch
from numpy.typing import NDArray
from pydantic import ValidationError

from fidal.encoders import ENCODERS, scattering
from fidal.encoders.descriptor import describe
from fidal.encoders.scattering import Scattering, _bank


@pytest.fixture
def images() -> NDArray[np.uint8]:
    """Coarse noise: white noise would be the same texture everywhere."""
    rng = np.random.default_rng(0)
    coarse = rng.uniform(60, 200, (19, 8, 8, 3))
    return coarse.repeat(4, 1).repeat(4, 2).astype(np.uint8)


def test_the_registry_knows_it() -> None:
    assert ENCODERS["scattering"] is Scattering


@pytest.mark.parametrize(("scales", "angles", "cosines"), [(4, 4, 512), (2, 2, 7), (5, 6, 64)])
def test_rows_are_finite_and_as_long_as_dimension(
    images: NDArray[np.uint8], scales: int, angles: int, cosines: int
) -> None:
    encoder = Scattering(scales=scales, angles=angles, cosines=cosines)
    rows = encoder.encode(images)
    assert rows.dtype == np.float32
    assert rows.shape == (len(images), encoder.dimension) == (19, cosines)
    assert np.isfinite(rows).all()


def test_black_white_and_flat_frames_stay_finite() -> None:
    frames = np.zeros((3, 64, 64, 3), dtype=np.uint8)
    frames[1], frames[2] = 255, 127
    assert np.isfinite(Scattering().encode(frames)).all()


def test_a_row_does_not_depend_on_the_others(
    images: NDArray[np.uint8], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(scattering, "BATCH", 5 * 32 * 32)
    encoder = Scattering()
    whole = encoder.encode(images)
    alone = np.concatenate([encoder.encode(images[i : i + 1]) for i in range(len(images))])
    assert np.allclose(whole, alone, atol=1e-4)
    assert encoder.encode(images[:0]).shape == (0, 512)


@pytest.mark.parametrize("bandwidth", [1.0, 3.0])
def test_inner_products_are_a_gaussian_of_the_distance(
    images: NDArray[np.uint8], bandwidth: float
) -> None:
    encoder = Scattering(bandwidth=bandwidth, cosines=20_000)
    rows = encoder.encode(images).astype(np.float64)
    descriptors = describe(torch.from_numpy(images), _bank(32, 4, 4)).double().numpy()
    for i in range(0, 19, 3):
        for j in range(0, 19, 3):
            squared = ((descriptors[i] - descriptors[j]) ** 2).sum()
            expected = math.exp(-squared / (2 * bandwidth**2))
            # The standard deviation of a mean of 20,000 products is below 1 / 140.
            assert rows[i] @ rows[j] == pytest.approx(expected, abs=0.04)


def test_no_image_is_far_from_everything(images: NDArray[np.uint8]) -> None:
    black = np.zeros((1, 32, 32, 3), dtype=np.uint8)
    rows = Scattering().encode(np.concatenate([black, images]))
    assert np.abs(rows).max() <= (2 / 512) ** 0.5 + 1e-6
    assert np.linalg.norm(rows, axis=1) == pytest.approx(np.ones(20), abs=0.15)


def test_the_random_layer_is_always_the_same(images: NDArray[np.uint8]) -> None:
    first = Scattering().encode(images)
    scattering._layer.cache_clear()
    np.random.seed(1)  # noqa: NPY002
    torch.manual_seed(1)
    assert np.array_equal(Scattering().encode(images), first)


def test_identity_tells_parameters_apart() -> None:
    others = ({}, {"scales": 3}, {"angles": 6}, {"bandwidth": 2}, {"cosines": 64})
    assert len({Scattering(**other).identity for other in others}) == 5
    assert Scattering().identity == Scattering(scales=4).identity


def test_images_that_do_not_fit_are_named() -> None:
    with pytest.raises(ValueError, match=r"multiple of 16; got 40 x 40: resize, or set scales"):
        Scattering().encode(np.zeros((1, 40, 40, 3), np.uint8))
    with pytest.raises(ValueError, match=r"square images .* got 32 x 64"):
        Scattering().encode(np.zeros((1, 32, 64, 3), np.uint8))
    with pytest.raises(ValueError, match=r"takes uint8 images.*got float32"):
        Scattering().encode(np.zeros((1, 32, 32, 3), np.float32))  # type: ignore[arg-type]
    with pytest.raises(ValueError, match=r"shape \(1, 32, 32, 4\)"):
        Scattering().encode(np.zeros((1, 32, 32, 4), np.uint8))
    with pytest.raises(ValidationError):
        Scattering(scales=1)


def test_one_channel_is_three_equal_ones(images: NDArray[np.uint8]) -> None:
    gray = images[..., :1]
    assert np.array_equal(Scattering().encode(gray), Scattering().encode(gray.repeat(3, axis=3)))


def test_images_are_not_modified_and_may_be_read_only(images: NDArray[np.uint8]) -> None:
    before = images.copy()
    images.setflags(write=False)
    Scattering().encode(images)
    assert np.array_equal(images, before)
