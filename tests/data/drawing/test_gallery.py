import logging
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from fidal.data.drawing import gallery as module
from fidal.data.drawing.clinics import CLINICS
from fidal.data.drawing.gallery import Commission, gallery

CAMERA = CLINICS["meadow"].camera
ORDERS = [
    Commission(subject, CAMERA, ("test", i))
    for i, subject in enumerate(["reticular", "ruler", "lacunar", "clinical"])
]


@pytest.fixture
def undrawable(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise AssertionError("drawn again")

    monkeypatch.setattr(module, "picture", refuse)


def test_images_are_uint8_and_differ(tmp_path: Path) -> None:
    images = gallery(ORDERS, 64, tmp_path)
    assert images.shape == (4, 64, 64, 3) and images.dtype == np.uint8
    assert len({image.tobytes() for image in images}) == 4


def test_an_image_depends_on_its_own_commission_only(tmp_path: Path) -> None:
    whole = gallery(ORDERS, 32, tmp_path)
    backwards = gallery(ORDERS[:0:-1], 32, tmp_path)
    assert np.array_equal(backwards, whole[:0:-1])


def test_what_was_drawn_is_found(tmp_path: Path, request: pytest.FixtureRequest) -> None:
    first = gallery(ORDERS, 32, tmp_path)
    request.getfixturevalue("undrawable")
    assert np.array_equal(gallery(ORDERS, 32, tmp_path), first)
    for other in (ORDERS[:3], [replace(ORDERS[0], purpose=("test", 9)), *ORDERS[1:]]):
        with pytest.raises(AssertionError, match="drawn again"):
            gallery(other, 32, tmp_path)
    brighter = [replace(order, camera=replace(CAMERA, grain=0.5)) for order in ORDERS]
    with pytest.raises(AssertionError, match="drawn again"):
        gallery(brighter, 32, tmp_path)


def test_another_version_is_not_found(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest
) -> None:
    gallery(ORDERS, 32, tmp_path)
    monkeypatch.setattr(module, "VERSION", module.VERSION + 1)
    request.getfixturevalue("undrawable")
    with pytest.raises(AssertionError, match="drawn again"):
        gallery(ORDERS, 32, tmp_path)


def test_a_damaged_file_is_drawn_anew(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    first = gallery(ORDERS, 32, tmp_path)
    (file,) = tmp_path.rglob("*.npz")
    content = bytearray(file.read_bytes())
    content[len(content) // 2] ^= 1
    file.write_bytes(content)
    with caplog.at_level(logging.WARNING):
        assert np.array_equal(gallery(ORDERS, 32, tmp_path), first)
    assert file.name in caplog.text


def test_more_pixels_show_the_same_thing(tmp_path: Path) -> None:
    small, large = gallery(ORDERS, 32, tmp_path), gallery(ORDERS, 96, tmp_path)
    shrunk = large.reshape(4, 32, 3, 32, 3, 3).astype(float).mean((2, 4))
    for a, b in zip(small.astype(float), shrunk, strict=True):
        assert np.corrcoef(a.ravel(), b.ravel())[0, 1] > 0.9
