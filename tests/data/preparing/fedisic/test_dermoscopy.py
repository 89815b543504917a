from pathlib import Path

import numpy as np
import pytest
import torch
from numpy.typing import NDArray
from PIL import Image
from torchvision.transforms.functional import center_crop

from fidal.data.preparing.fedisic.dermoscopy import Dermoscopy, Overflow, centre, shades_of_grey


def noise(height: int, width: int, top: int = 256) -> NDArray[np.uint8]:
    rng = np.random.default_rng(height * width)
    tint = np.array([1.0, 0.7, 0.5])
    image = (rng.integers(0, top, (height, width, 3)) * tint).astype(np.uint8)
    image[height // 2, width // 2 :: 2] = top - 1  # highlights are white in any light
    return image


def saved(path: Path, image: NDArray[np.uint8]) -> Path:
    Image.fromarray(image).save(path)
    return path


@pytest.mark.parametrize("overflow", ["clip", "wrap"])
def test_each_channel_is_divided_by_its_minkowski_mean(overflow: Overflow) -> None:
    image = noise(9, 7)
    light = [0.0, 0.0, 0.0]
    for channel in range(3):
        powers = [float(value) ** 6 for value in image[..., channel].ravel()]
        light[channel] = (sum(powers) / len(powers)) ** (1 / 6)
    length = sum(value**2 for value in light) ** 0.5
    found, beyond = shades_of_grey(image, overflow), 0
    for place in np.ndindex(image.shape):
        exact = float(image[place]) / (3**0.5 * light[place[2]] / length)
        beyond += exact >= 256
        expected = min(exact, 255) if overflow == "clip" else exact % 256
        if abs(exact - round(exact)) > 1e-3:  # else single precision may round either way
            assert found[place] == int(expected), place
    assert beyond > 1


def test_grey_light_is_left_alone_and_a_black_channel_stays_black() -> None:
    grey = noise(6, 6)[..., :1].repeat(3, axis=2)
    assert abs(shades_of_grey(grey, "clip").astype(int) - grey).max() <= 1
    dark = noise(6, 6)
    dark[..., 2] = 0
    assert not shades_of_grey(dark, "clip")[..., 2].any()
    assert shades_of_grey(dark, "clip")[..., 0].any()
    assert not shades_of_grey(np.zeros((4, 4, 3), np.uint8), "wrap").any()


def test_a_second_time_it_changes_nothing_but_roundings() -> None:
    once = shades_of_grey(noise(40, 40, top=120), "clip")
    assert abs(shades_of_grey(once, "clip").astype(int) - once).max() <= 1


@pytest.mark.parametrize("height", [5, 6, 7, 8, 9, 10])
@pytest.mark.parametrize("width", [5, 7, 8, 11])
def test_the_centre_is_torchvisions(height: int, width: int) -> None:
    image = noise(height, width)
    expected = center_crop(torch.from_numpy(image).permute(2, 0, 1), [7, 7])
    np.testing.assert_array_equal(centre(image, 7), expected.permute(1, 2, 0).numpy())


def test_the_shorter_edge_is_scaled_then_balanced_then_the_centre_is_cut(tmp_path: Path) -> None:
    image = noise(450, 600)
    made = Dermoscopy()(saved(tmp_path / "a.png", image))
    assert made.shape == Dermoscopy().shape == (224, 224, 3)
    small = np.asarray(Image.fromarray(image).resize((298, 224), Image.Resampling.BILINEAR))
    expected = shades_of_grey(small, "clip")[:, 37:261]  # int(600 * 224 / 450) is 298
    np.testing.assert_array_equal(made, expected)


def test_an_edge_that_is_cut_to_223_gets_a_black_line(tmp_path: Path) -> None:
    made = Dermoscopy()(saved(tmp_path / "a.png", noise(55, 80)))
    assert int(55 * (224 / 55)) == 223
    assert not made[223].any()
    assert made[222].any() and made[:, 0].any() and made[:, 223].any()


def test_the_wrap_is_another_identity_and_other_pixels(tmp_path: Path) -> None:
    path = saved(tmp_path / "a.png", noise(224, 224))
    assert Dermoscopy("wrap").identity != Dermoscopy("clip").identity
    clipped, wrapped = Dermoscopy("clip")(path), Dermoscopy("wrap")(path)
    differ = clipped != wrapped
    assert differ.any() and (clipped[differ] == 255).all()


@pytest.mark.parametrize("mode", ["RGBA", "CMYK", "P", "L"])
def test_photographs_come_in_many_modes(tmp_path: Path, mode: str) -> None:
    path = tmp_path / ("a.tif" if mode == "CMYK" else "a.png")
    Image.fromarray(noise(60, 60)).convert(mode).save(path)
    assert Dermoscopy()(path).shape == (224, 224, 3)


@pytest.mark.parametrize("mode", ["I;16", "F", "1", "LA"])
def test_a_mode_that_is_not_8_bit_colour_is_refused(tmp_path: Path, mode: str) -> None:
    path = tmp_path / ("a.tif" if mode == "F" else "a.png")
    Image.new(mode, (60, 60), 1 if mode != "LA" else (1, 1)).save(path)
    with pytest.raises(ValueError, match=f"mode {mode}; 8-bit colour is expected"):
        Dermoscopy()(path)


def test_a_numpy_file_is_an_image_too(tmp_path: Path) -> None:
    image = noise(224, 300)
    np.save(tmp_path / "a.npy", image)
    expected = Dermoscopy()(saved(tmp_path / "a.png", image))
    np.testing.assert_array_equal(Dermoscopy()(tmp_path / "a.npy"), expected)
    np.save(tmp_path / "b.npy", image.astype(np.float32))
    with pytest.raises(ValueError, match=r"float32 of shape \(224, 300, 3\); 8-bit colour"):
        Dermoscopy()(tmp_path / "b.npy")
