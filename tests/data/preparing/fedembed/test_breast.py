import io
import os
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from fidal.data.preparing.fedembed.breast import Breast, extract_breast
from fidal.data.render import Render
from tests.data.dicom.made import as_bytes, dataset


def largest_piece(gray: np.ndarray) -> np.ndarray:
    """By flooding from pixel to pixel over edges."""
    left = {(y, x) for y, x in np.argwhere(gray > 5).tolist()}
    best: set[tuple[int, int]] = set()
    while left:
        piece, edge = set(), [left.pop()]
        while edge:
            y, x = edge.pop()
            piece.add((y, x))
            near = {(y + 1, x), (y - 1, x), (y, x + 1), (y, x - 1)} & left
            left -= near
            edge += near
        best = max(best, piece, key=len)
    kept = np.zeros_like(gray)
    for place in best:
        kept[place] = gray[place]
    return kept


def png(array: np.ndarray) -> bytes:
    file = io.BytesIO()
    Image.fromarray(array).save(file, "PNG")
    return file.getvalue()


@pytest.mark.parametrize("seed", range(8))
def test_the_largest_piece_stays(seed: int) -> None:
    rng = np.random.default_rng(seed)
    gray = rng.integers(0, 256, (20, 30), dtype=np.uint8)
    gray[rng.random(gray.shape) < 0.45] = 3
    np.testing.assert_array_equal(extract_breast(gray), largest_piece(gray))


def test_corners_do_not_connect_and_five_is_black() -> None:
    gray = np.zeros((4, 5), np.uint8)
    gray[0, :3] = 6
    gray[1, 3:] = 200  # touches the first piece in a corner only
    gray[3, :] = 5
    kept = extract_breast(gray)
    assert kept[0].tolist() == [6, 6, 6, 0, 0]
    assert not kept[1:].any()


def test_letters_beside_the_breast_go_and_what_touches_it_stays() -> None:
    gray = np.zeros((60, 40), np.uint8)
    gray[10:50, :20] = 90
    gray[2:6, 30:38] = 255  # a letter
    gray[20:24, 18:30] = 255  # a marker on the skin
    kept = extract_breast(gray)
    assert not kept[:9].any()
    assert (kept[20:24, 18:30] == 255).all()


def test_sixteen_bits_lose_their_low_byte_and_nothing_is_stretched() -> None:
    values = np.full((16, 12), 0x12FF, np.uint16)
    values[:8] = 0xFF00
    found = Breast(16, 12)(png(values))
    assert found.shape == (16, 12, 1)
    assert found.dtype == np.uint8
    assert np.unique(found).tolist() == [0x12, 0xFF]
    assert (found[:8] == 0xFF).all()
    np.testing.assert_array_equal(Breast(16, 12)(png((values >> 8).astype(np.uint8))), found)


def test_the_shape_is_height_by_width_whatever_the_aspect() -> None:
    wide = np.zeros((30, 90), np.uint8)
    wide[:, :45] = 100
    found = Breast(64, 48)(png(wide))[:, :, 0]
    assert found.shape == (64, 48)
    assert (found[:, :22] == 100).all()
    assert not found[:, 26:].any()
    expected = Image.fromarray(wide).resize((48, 64), Image.Resampling.BILINEAR)
    np.testing.assert_array_equal(found, np.asarray(expected))


def test_dicom_and_png_of_the_same_values_agree() -> None:
    values = np.zeros((64, 48), np.uint16)
    values[10:50, :30] = np.arange(30) * 100 + 200
    made = dataset(values, BitsStored=12)
    found = Breast(64, 48)(as_bytes(made)).astype(int)
    assert np.abs(found - Breast(64, 48)(png(values << 4))).max() <= 1
    made.PhotometricInterpretation = "MONOCHROME1"
    made.PixelData = (4095 - values).tobytes()
    np.testing.assert_array_equal(Breast(64, 48)(as_bytes(made)), found)


def test_colour_becomes_gray() -> None:
    colour = np.zeros((16, 12, 3), np.uint8)
    colour[4:, :, 1] = 100
    expected = np.asarray(Image.fromarray(colour).convert("L"))
    for file in (png(colour), as_bytes(dataset(colour))):
        np.testing.assert_array_equal(Breast(16, 12)(file)[:, :, 0], expected)


def test_an_image_of_nothing() -> None:
    with pytest.raises(ValueError, match="no pixel is brighter than 5 of 255"):
        Breast(16, 12)(png(np.full((16, 12), 5, np.uint8)))


def test_an_error_does_not_say_where_the_file_lies_a_warning_does(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    path = tmp_path / "10000258.png"
    path.write_bytes(png(np.zeros((16, 12), np.uint8)))
    with pytest.raises(ValueError, match="no pixel is brighter") as error:
        Breast(16, 12)(path)
    assert "10000258" not in str(error.value)
    assert f"{path}: no pixel is brighter than 5" in caplog.text
    with pytest.raises(ValueError, match=r"^the file can't be read: No such file or directory$"):
        Breast(16, 12)(tmp_path / "10000259.png")
    path.write_bytes(png(np.full((16, 12), 50, np.uint8)))

    def forbid(*_: object, **__: object) -> None:
        raise PermissionError(13, os.strerror(13), str(path))

    monkeypatch.setattr(Path, "open", forbid)
    with pytest.raises(ValueError, match=r"^the file can't be read: Permission denied$"):
        Breast(16, 12)(path)


def test_the_identity_says_the_size() -> None:
    render: Render[Path] = Breast(16, 12)
    assert render.shape == (16, 12, 1)
    assert render.identity != Breast(12, 16).identity
    assert render.identity == Breast(16, 12).identity
