import io
import logging
import os
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray
from PIL import Image

from fidal.data import pixel_file, render
from fidal.data.picture import Recipe
from fidal.data.pixels import decode

RECIPE = Recipe(8)


def files(folder: Path, n: int = 5) -> tuple[list[str], list[Path | bytes]]:
    rng = np.random.default_rng(0)
    names = [f"{i}.png" for i in range(n)]
    for name in names:
        Image.fromarray(rng.integers(0, 256, (10, 12, 3), dtype=np.uint8)).save(folder / name)
    return names, [folder / name for name in names]


def kept(cache: Path) -> list[str]:
    return sorted(path.suffix for path in (cache / "pixels").glob("[!.]*"))


class Watched:
    """A recipe that remembers what it rendered."""

    shape, identity = RECIPE.shape, RECIPE.identity

    def __init__(self) -> None:
        self.seen: list[str] = []

    def __call__(self, origin: Path | bytes) -> NDArray[np.uint8]:
        self.seen.append(Path(str(origin)).name)
        return RECIPE(origin)


def forbid_decoding(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> None:
        raise AssertionError("decoded again")

    monkeypatch.setattr(Recipe, "__call__", fail)


def test_pixels_are_those_of_each_image_in_order(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(render, "BATCH", 2 * 8 * 8 * 3)
    names, images = files(tmp_path)
    found = decode(names, images, RECIPE, tmp_path / "cache")
    assert isinstance(found.pixels, np.memmap)
    assert found.pixels.dtype == np.uint8
    assert not found.pixels.flags.writeable
    np.testing.assert_array_equal(found.pixels, [RECIPE(image) for image in images])
    assert found.rows.tolist() == [0, 1, 2, 3, 4]


def test_bytes_are_decoded_like_files(tmp_path: Path) -> None:
    names, images = files(tmp_path)
    content: list[Path | bytes] = [Path(str(image)).read_bytes() for image in images]
    one = decode(names, images, RECIPE, tmp_path / "cache")
    other = decode(names, content, RECIPE, tmp_path / "cache")
    np.testing.assert_array_equal(one.pixels, other.pixels)


def test_the_second_time_nothing_is_decoded(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    names, images = files(tmp_path)
    first = decode(names, images, RECIPE, tmp_path / "cache")
    assert kept(tmp_path / "cache") == [".json", ".npy"]
    forbid_decoding(monkeypatch)
    again = decode(names, images, RECIPE, tmp_path / "cache")
    np.testing.assert_array_equal(again.pixels, first.pixels)


@pytest.mark.parametrize("damage", [".json", ".npy"])
def test_a_damaged_cache_is_made_again(tmp_path: Path, damage: str) -> None:
    names, images = files(tmp_path)
    expected = np.array(decode(names, images, RECIPE, tmp_path / "cache").pixels)
    (cached,) = (tmp_path / "cache" / "pixels").glob(f"*{damage}")
    cached.write_bytes(cached.read_bytes()[: cached.stat().st_size // 2])
    again = decode(names, images, RECIPE, tmp_path / "cache")
    np.testing.assert_array_equal(again.pixels, expected)


@pytest.mark.parametrize("change", ["time", "size", "recipe", "name", "order"])
def test_what_the_pixels_depend_on_is_in_the_key(tmp_path: Path, change: str) -> None:
    names, images = files(tmp_path)
    recipe, first = RECIPE, tmp_path / "0.png"
    decode(names, images, recipe, tmp_path / "cache")
    if change == "time":
        os.utime(first, ns=(0, 1))
    elif change == "size":
        stamp = first.stat()
        first.write_bytes(first.read_bytes() + b"\0")
        os.utime(first, ns=(stamp.st_atime_ns, stamp.st_mtime_ns))
    elif change == "recipe":
        recipe = Recipe(8, "pad")
    elif change == "name":
        names = ["other", *names[1:]]
    else:
        names, images = names[::-1], images[::-1]
    found = decode(names, images, recipe, tmp_path / "cache")
    np.testing.assert_array_equal(found.pixels, [recipe(image) for image in images])
    assert len(list((tmp_path / "cache" / "pixels").glob("*.npy"))) == 2


def test_unreadable_images_are_one_error_that_names_and_counts_them(tmp_path: Path) -> None:
    names, images = files(tmp_path, 9)
    for i in range(1, 7):
        (tmp_path / f"{i}.png").write_bytes(
            b"" if i > 2 else (tmp_path / "0.png").read_bytes()[:90]
        )
    (tmp_path / "8.png").unlink()
    with pytest.raises(ValueError, match=r"7 of 9 images cannot be read: '1\.png'") as error:
        decode(names, images, RECIPE, tmp_path / "cache")
    assert "'5.png'" in str(error.value)
    assert "'6.png'" not in str(error.value)
    assert "quarantine = true" in str(error.value)
    assert ".npy" not in kept(tmp_path / "cache")


def test_after_a_repair_only_the_repaired_image_is_made(tmp_path: Path) -> None:
    names, images = files(tmp_path, 9)
    whole = (tmp_path / "4.png").read_bytes()
    (tmp_path / "4.png").write_bytes(whole[:60])
    with pytest.raises(ValueError, match="1 of 9 images cannot be read"):
        decode(names, images, RECIPE, tmp_path / "cache")
    (tmp_path / "4.png").write_bytes(whole)
    watched = Watched()
    found = decode(names, images, watched, tmp_path / "cache")
    assert watched.seen == ["4.png"]
    np.testing.assert_array_equal(found.pixels, [RECIPE(image) for image in images])
    assert kept(tmp_path / "cache") == [".json", ".npy"]


def test_a_black_image_counts_as_unreadable(tmp_path: Path) -> None:
    names, images = files(tmp_path)
    Image.new("RGB", (9, 9)).save(tmp_path / "3.png")
    with pytest.raises(ValueError, match=r"1 of 5 .*'3\.png' \(every pixel is black\)"):
        decode(names, images, RECIPE, tmp_path / "cache")


def test_quarantine_leaves_them_out_and_says_so(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    names, images = files(tmp_path, 12)
    (tmp_path / "0.png").write_bytes(b"broken")
    (tmp_path / "7.png").unlink()
    caplog.set_level(logging.WARNING)
    good = [i for i in range(12) if i not in (0, 7)]
    expected = [RECIPE(images[i]) for i in good]
    for turn in (1, 2):
        found = decode(names, images, RECIPE, tmp_path / "cache", quarantine=True)
        assert found.rows.tolist() == good
        np.testing.assert_array_equal(found.pixels, expected)
        assert len(caplog.records) == turn
        assert "2 of 12 images cannot be read: '0.png'" in caplog.text
        assert f"there is no file {tmp_path / '7.png'}" in caplog.text
        forbid_decoding(monkeypatch)
    with pytest.raises(ValueError, match="2 of 12 images cannot be read"):
        decode(names, images, RECIPE, tmp_path / "cache")


def test_when_nothing_is_left_quarantine_does_not_help(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="2 of 2 images cannot be read"):
        decode(["a", "b"], [b"", tmp_path / "b"], RECIPE, tmp_path / "cache", quarantine=True)


def test_a_killed_maker_is_followed_by_one_who_goes_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(render, "BATCH", 2 * 8 * 8 * 3)
    names, images = files(tmp_path, 7)

    class Killed(Watched):
        def __call__(self, origin: Path | bytes) -> NDArray[np.uint8]:
            if str(origin).endswith("4.png"):
                raise MemoryError
            return super().__call__(origin)

    with pytest.raises(MemoryError):
        decode(names, images, Killed(), tmp_path / "cache")
    second = Watched()
    found = decode(names, images, second, tmp_path / "cache")
    assert sorted(second.seen) == ["4.png", "5.png", "6.png"]
    np.testing.assert_array_equal(found.pixels, [RECIPE(image) for image in images])


def test_a_full_disk_is_said_before_the_work(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    names, images = files(tmp_path)
    usage = type("Usage", (), {"free": 100})
    monkeypatch.setattr(pixel_file.shutil, "disk_usage", lambda _: usage)
    forbid_decoding(monkeypatch)
    with pytest.raises(ValueError, match="make room"):
        decode(names, images, RECIPE, tmp_path / "cache")


def test_every_image_format_of_a_clinic(tmp_path: Path) -> None:
    gray = np.arange(64, dtype=np.uint8).reshape(8, 8)
    made = {
        "a.png": Image.fromarray(gray),
        "b.jpg": Image.fromarray(gray),
        "c.tif": Image.fromarray(gray.astype(np.uint16) * 256),
        "d.webp": Image.fromarray(np.stack([gray] * 3, -1)),
        "e.bmp": Image.fromarray(gray),
    }
    for name, image in made.items():
        image.save(tmp_path / name, **({"lossless": True} if name == "d.webp" else {}))
    found = decode(list(made), [tmp_path / name for name in made], RECIPE, tmp_path / "cache")
    expected = np.stack([gray] * 3, -1)
    for row, name in enumerate(made):
        off = np.abs(found.pixels[row].astype(int) - expected).max()
        assert off <= (6 if name == "b.jpg" else 0), name


def test_in_memory_images_share_a_key_only_with_equal_bytes(tmp_path: Path) -> None:
    def one(value: int) -> bytes:
        file = io.BytesIO()
        Image.fromarray(np.full((8, 8, 3), value, np.uint8)).save(file, "PNG")
        return file.getvalue()

    for value in (3, 4, 3):
        assert (decode(["x"], [one(value)], RECIPE, tmp_path).pixels == value).all()
    assert len(list((tmp_path / "pixels").glob("*.npy"))) == 2
