import numpy as np
import pytest
from numpy.typing import NDArray

from fidal.data.benchmark import Manifest
from fidal.data.contact_sheet import HEIGHT, LINE, MARGIN, STRIP, contact_sheet
from fidal.types import OUTLIER

RED, GREEN, BLUE, GREY = (255, 0, 0), (0, 255, 0), (0, 0, 255), (128, 128, 128)


def made(channels: int = 3) -> tuple[Manifest, NDArray[np.uint8]]:
    """Site a: nine red images of class 0, one green of class 1, three blue outliers of two kinds.
    Site b: a green one, in the test."""
    label = np.array([0] * 9 + [1] + [OUTLIER] * 3 + [1])
    colours = np.array([RED] * 9 + [GREEN] + [BLUE, BLUE, GREY] + [GREEN], np.uint8)
    manifest = Manifest(
        classes=("red", "green"),
        ids=tuple(f"{i:02d}" for i in range(14)),
        site=np.array(["a"] * 13 + ["b"]),
        split=np.array(["train"] * 13 + ["test"]),
        label=label,
        columns={"kind": np.array(["id"] * 10 + ["blur", "blur", "blood", "id"])},
    )
    pixels = np.broadcast_to(colours[:, None, None, :], (14, 10, 20, 3))
    return manifest, np.ascontiguousarray(pixels[..., :channels])


def strip(sheet: NDArray[np.uint8], number: int, each: int) -> list[tuple[int, ...]]:
    """The colours in the middle of the thumbnails of a strip."""
    y = MARGIN + number * (LINE + STRIP) + LINE + HEIGHT // 2
    width = 2 * HEIGHT
    xs = [MARGIN + place * (width + 8) + width // 2 for place in range(each)]
    return [tuple(sheet[y, x].tolist()) for x in xs]


def test_each_site_has_a_strip_of_classes_and_one_of_outliers() -> None:
    sheet = np.asarray(contact_sheet(*made(), each=4))
    white = (255, 255, 255)
    assert strip(sheet, 0, 4) == [GREEN, RED, RED, RED]  # every class before a second turn
    assert strip(sheet, 1, 4) == [GREY, BLUE, BLUE, white]  # blood, blur, blur
    assert strip(sheet, 2, 4) == [GREEN, white, white, white]
    assert strip(sheet, 3, 4) == [white] * 4
    assert len(sheet) == 2 * MARGIN + 4 * (LINE + STRIP)


def test_titles_and_words_are_written() -> None:
    sheet = np.asarray(contact_sheet(*made(), each=4))
    title = sheet[MARGIN : MARGIN + LINE]
    word = sheet[MARGIN + LINE + HEIGHT + 1 : MARGIN + LINE + HEIGHT + 18, :300]
    assert title.min() < 100 and word.min() < 160


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_the_choice_follows_from_the_seed(seed: int) -> None:
    manifest, pixels = made()
    pixels = pixels.copy()
    pixels[:9, ..., 1] = np.arange(9)[:, None, None] * 20
    sheets = [np.asarray(contact_sheet(manifest, pixels, 3, s)) for s in (seed, seed, seed + 1)]
    np.testing.assert_array_equal(sheets[0], sheets[1])
    assert (sheets[0] != sheets[2]).any()


def test_grayscale_is_shown_grey() -> None:
    sheet = np.asarray(contact_sheet(*made(channels=1), each=2))
    assert strip(sheet, 0, 2) == [(0, 0, 0), (255, 255, 255)]
