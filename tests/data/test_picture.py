import io
from pathlib import Path
from typing import Literal

import numpy as np
import pytest
from PIL import Image, UnidentifiedImageError

from fidal.data.picture import Recipe
from tests.data.dicom.made import as_bytes, dataset, write


def png(array: np.ndarray) -> bytes:
    file = io.BytesIO()
    Image.fromarray(array).save(file, "PNG")
    return file.getvalue()


def colours(height: int = 8, width: int = 8) -> np.ndarray:
    return np.random.default_rng(0).integers(0, 256, (height, width, 3), dtype=np.uint8)


@pytest.mark.parametrize("fit", ["crop", "pad"])
def test_an_image_of_the_right_shape_is_not_touched(
    tmp_path: Path, fit: Literal["crop", "pad"]
) -> None:
    array = colours()
    (tmp_path / "a.png").write_bytes(png(array))
    recipe = Recipe(8, fit)
    np.testing.assert_array_equal(recipe(png(array)), array)
    np.testing.assert_array_equal(recipe(tmp_path / "a.png"), array)


def test_crop_takes_the_centre_and_pad_adds_black() -> None:
    array = np.zeros((4, 12, 3), np.uint8)
    array[:, :4], array[:, 4:8], array[:, 8:] = (10, 0, 0), (0, 20, 0), (0, 0, 30)
    assert (Recipe(4)(png(array)) == (0, 20, 0)).all()
    padded = Recipe(12, "pad")(png(array))
    assert not padded[:4].any()
    assert not padded[8:].any()
    np.testing.assert_array_equal(padded[4:8], array)


def test_crop_scales_the_shorter_edge() -> None:
    array = np.kron(colours(4, 6), np.ones((4, 4, 1), np.uint8))
    small = Recipe(4)(png(array))
    assert small.shape == (4, 4, 3)
    inner = array.reshape(4, 4, 6, 4, 3).mean((1, 3))[:, 1:5]
    assert np.abs(small - inner).mean() < 0.5 * np.abs(small - inner[::-1]).mean()


def test_grayscale_is_repeated_and_alpha_dropped() -> None:
    gray = colours()[..., 0]
    np.testing.assert_array_equal(Recipe(8)(png(gray)), np.stack([gray] * 3, -1))
    alpha = np.full((8, 8, 1), 7, np.uint8)
    rgba = np.concatenate([colours(), alpha], -1)
    np.testing.assert_array_equal(Recipe(8)(png(rgba)), colours())
    la = np.concatenate([gray[..., None], alpha], -1)
    np.testing.assert_array_equal(Recipe(8)(png(la))[..., 1], gray)


def test_one_bit_and_palette_images_are_looked_up() -> None:
    mask = np.eye(8, dtype=bool)
    np.testing.assert_array_equal(Recipe(8)(png(mask))[..., 2], mask * 255)
    indexed = Image.fromarray(np.eye(8, dtype=np.uint8), "L")
    indexed.putpalette([200, 30, 10, 1, 2, 3])
    file = io.BytesIO()
    indexed.save(file, "PNG")
    expected = np.where(mask[..., None], (1, 2, 3), (200, 30, 10))
    np.testing.assert_array_equal(Recipe(8)(file.getvalue()), expected)


@pytest.mark.parametrize(
    ("bits", "values", "expected"),
    [
        (16, [0, 255, 256, 32768, 65535], [0, 0, 1, 128, 255]),
        (12, [0, 15, 16, 2048, 4095], [0, 0, 1, 128, 255]),
        (8, [0, 1, 100, 254, 255], [0, 1, 100, 254, 255]),
    ],
)
@pytest.mark.parametrize("format", ["PNG", "TIFF"])
def test_sixteen_bits_by_one_fixed_scale(
    bits: int, values: list[int], expected: list[int], format: str
) -> None:
    file = io.BytesIO()
    Image.fromarray(np.tile(np.array(values, np.uint16), (5, 1))).save(file, format)
    read = Recipe(5, bits=bits)(file.getvalue())
    np.testing.assert_array_equal(read, np.tile(np.array(expected), (5, 1))[..., None].repeat(3, 2))


def test_more_bits_than_declared_is_an_error_not_a_clipped_image() -> None:
    with pytest.raises(ValueError, match=r"pixel values 0\.\.4096 do not fit 12 bits"):
        Recipe(2, bits=12)(png(np.array([[0, 4096]], np.uint16)))


def test_floating_point_pixels_are_refused() -> None:
    file = io.BytesIO()
    Image.fromarray(np.ones((4, 4), np.float32)).save(file, "TIFF")
    with pytest.raises(ValueError, match="no stated range"):
        Recipe(4)(file.getvalue())


def test_the_cameras_orientation_is_obeyed() -> None:
    upright = np.zeros((8, 8, 3), np.uint8)
    upright[:4] = 255
    exif = Image.Exif()
    exif[0x0112] = 6  # the camera was turned: show it a quarter turn clockwise
    file = io.BytesIO()
    Image.fromarray(np.rot90(upright).copy()).save(file, "PNG", exif=exif)
    np.testing.assert_array_equal(Recipe(8)(file.getvalue()), upright)


def test_a_large_jpeg_is_decoded_small_and_looks_the_same() -> None:
    smooth = np.linspace(0, 255, 512).astype(np.uint8)
    across = np.tile(smooth, (512, 1))
    array = np.stack([across, across.T, np.zeros_like(across)], -1)
    file = io.BytesIO()
    Image.fromarray(array).save(file, "JPEG", quality=95)
    difference = Recipe(16)(file.getvalue()).astype(int) - Recipe(16)(png(array))
    assert np.abs(difference).max() <= 4


def test_what_is_no_image_raises() -> None:
    with pytest.raises(UnidentifiedImageError):
        Recipe(4)(b"no image")
    with pytest.raises(OSError, match="truncated"):
        Recipe(4)(png(colours(64, 64))[:-4000])


def test_a_dicom_file_is_shown_by_its_window_whatever_its_name(tmp_path: Path) -> None:
    values = np.tile(np.arange(0, 4096, 512, dtype=np.uint16), (8, 1))
    made = dataset(values, BitsStored=12, WindowCenter=2048, WindowWidth=4096)
    expected = np.rint(values / 4095 * 255)[..., None].repeat(3, 2)
    for file in (write(tmp_path / "a.png", made), as_bytes(made)):
        np.testing.assert_array_equal(Recipe(8)(file), expected)
    colour = colours()
    np.testing.assert_array_equal(Recipe(8)(as_bytes(dataset(colour))), colour)
    wide = dataset(values[:4], BitsStored=12, PhotometricInterpretation="MONOCHROME1")
    assert Recipe(8, "pad")(as_bytes(wide)).shape == (8, 8, 3)
    assert Recipe(4)(as_bytes(wide))[0, 0].tolist() == [191, 191, 191]


def test_what_is_wrong_with_a_dicom_file_is_said() -> None:
    made = dataset(np.zeros((8, 8), np.uint16))
    with pytest.raises(ValueError, match="the DICOM file is cut off: 98 bytes of pixel data where"):
        Recipe(8)(as_bytes(made)[:-30])
