import os
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

import fidal.data.pixel_file as module
from fidal.data.pixel_file import PixelFile, digest

SHAPE = (2, 3, 1)
PRINTS = [f"print {row}" for row in range(10)]
BAD = {1: "torn", 4: "torn", 5: "no image"}


def image(row: int) -> NDArray[np.uint8]:
    return np.full(SHAPE, 10 + row, np.uint8)


def life(target: Path, prints: list[str] = PRINTS, bad: dict[int, str] = BAD) -> list[int]:
    """One process that makes what is missing, three images at a time. Out: what it made."""
    file = PixelFile(target, "growing", prints, SHAPE)
    made = []
    pending = [row for row in file.pending if row not in bad]
    for start in range(0, len(pending), 3):
        rows = pending[start : start + 3]
        file.add({row: image(row) for row in rows})
        made += rows
    kept = file.finish({row: bad[row] for row in file.pending} | file.gaps)
    assert file.gaps == bad
    assert kept == [row for row in range(len(prints)) if row not in bad]
    assert file.digests == {row: digest(image(row)) for row in kept}
    file.forget()
    return made


def check(target: Path, bad: dict[int, str] = BAD) -> None:
    expected = [image(row) for row in range(10) if row not in bad]
    np.testing.assert_array_equal(np.load(target, mmap_mode="r"), expected)
    assert [path.name for path in target.parent.iterdir()] == [target.name]


def test_images_lie_in_order_without_gaps(tmp_path: Path) -> None:
    assert len(life(tmp_path / "a.npy")) == 7
    check(tmp_path / "a.npy")
    life(tmp_path / "b.npy", bad={})
    (tmp_path / "a.npy").unlink()
    check(tmp_path / "b.npy", {})


@pytest.fixture
def deaths(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[int]]:
    """The first number says after how many more calls of fsync, each on the way to the disk, the
    process dies; it is counted down.
    """
    left = [10**6]

    def fsync(descriptor: int) -> None:
        left[0] -= 1
        if left[0] < 0:
            raise KeyboardInterrupt

    monkeypatch.setattr(os, "fsync", fsync)
    yield left


@pytest.mark.parametrize("moved", [6, 12, 1000])
def test_whenever_it_is_killed_the_next_life_ends_with_the_same_file(
    tmp_path: Path, deaths: list[int], monkeypatch: pytest.MonkeyPatch, moved: int
) -> None:
    monkeypatch.setattr(module, "MOVED", moved)
    for steps in range(1, 100):
        folder = tmp_path / str(steps)
        folder.mkdir()
        deaths[0], killed, noted = steps, False, 0
        try:
            life(folder / "a.npy")
        except KeyboardInterrupt:
            killed = True
            noted = sum(line.count("print") for line in _journal(folder) if "made" in line)
        deaths[0] = 10**6
        if not killed:
            break
        assert len(life(folder / "a.npy")) <= 7 - noted
        check(folder / "a.npy")
    assert not killed
    assert steps > 12


def _journal(folder: Path) -> list[str]:
    path = folder / ".growing.done"
    return path.read_text().splitlines() if path.exists() else []


def test_a_maker_killed_before_it_could_note_what_it_made_is_told_again(tmp_path: Path) -> None:
    file = PixelFile(tmp_path / "a.npy", "growing", PRINTS, SHAPE)
    file.add({row: image(row) for row in range(10) if row not in BAD})
    file.finish(BAD)  # and now it dies
    assert (tmp_path / "a.npy").exists()
    assert life(tmp_path / "a.npy") == []
    check(tmp_path / "a.npy")


def test_only_what_has_another_print_is_made_again(tmp_path: Path) -> None:
    file = PixelFile(tmp_path / "a.npy", "growing", PRINTS, SHAPE)
    file.add({row: image(0) for row in range(8)})
    prints = [f"{name} changed" if row in (2, 3) else name for row, name in enumerate(PRINTS)]
    again = PixelFile(tmp_path / "a.npy", "growing", prints, SHAPE)
    assert again.pending == [2, 3, 8, 9]
    assert PixelFile(tmp_path / "a.npy", "growing", prints[:5], SHAPE).pending == [2, 3]


@pytest.mark.parametrize("changed", [4, 9])  # an image that was given up, and one that was made
def test_a_file_with_closed_gaps_is_not_taken_for_another(tmp_path: Path, changed: int) -> None:
    file = PixelFile(tmp_path / "a.npy", "growing", PRINTS, SHAPE)
    file.add({row: image(row) for row in range(10) if row not in BAD})
    file.finish(BAD)
    prints = PRINTS.copy()
    prints[changed] = "changed"
    assert PixelFile(tmp_path / "a.npy", "growing", prints, SHAPE).pending == list(range(10))
    assert len(life(tmp_path / "a.npy", prints)) == 7
    check(tmp_path / "a.npy")
