from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from fidal.data.preparing.fedcamelyon.patch import Patch


def saved(path: Path, size: int, mode: str = "RGBA") -> Path:
    image = np.random.default_rng(0).integers(0, 256, (size, size, 4), dtype=np.uint8)
    Image.fromarray(image).convert(mode).save(path)
    return path


@pytest.mark.parametrize("mode", ["RGB", "RGBA"])
def test_a_patch_of_96_pixels_is_not_touched(tmp_path: Path, mode: str) -> None:
    path = saved(tmp_path / "a.png", 96, mode)
    with Image.open(path) as image:
        expected = np.asarray(image)[..., :3]
    np.testing.assert_array_equal(Patch()(path), expected)


def test_an_artefact_of_224_pixels_is_scaled(tmp_path: Path) -> None:
    y, x = np.mgrid[:224, :224]
    slope = np.stack([x, y, x], -1).astype(np.uint8)
    Image.fromarray(slope).save(tmp_path / "a.png")
    made = Patch()(tmp_path / "a.png")
    assert made.shape == Patch().shape == (96, 96, 3)
    expected = (np.arange(96) + 0.5) * 224 / 96 - 0.5
    np.testing.assert_allclose(made[40, 2:-2, 0], expected[2:-2], atol=1)
    np.testing.assert_allclose(made[2:-2, 40, 1], expected[2:-2], atol=1)


@pytest.mark.parametrize("mode", ["L", "P", "1"])
def test_what_is_not_colour_is_refused(tmp_path: Path, mode: str) -> None:
    with pytest.raises(ValueError, match=f"mode {mode}; 8-bit colour is expected"):
        Patch()(saved(tmp_path / "a.png", 96, mode))


def test_a_patch_that_is_too_small_or_no_square_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="95 x 95 pixels; patches are squares of at least 96"):
        Patch()(saved(tmp_path / "a.png", 95))
    Image.new("RGB", (96, 128), (9, 9, 9)).save(tmp_path / "b.png")
    with pytest.raises(ValueError, match="96 x 128 pixels"):
        Patch()(tmp_path / "b.png")
