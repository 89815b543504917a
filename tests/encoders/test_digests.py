"""Which arrays are known again without being read."""

from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from fidal.encoders.digests import digest_of, recall, remember

CHUNK = 4


@pytest.fixture
def file(tmp_path: Path) -> Path:
    images = np.random.default_rng(0).integers(0, 256, (10, 2, 3, 1), dtype=np.uint8)
    np.save(tmp_path / "images.npy", images)
    return tmp_path / "images.npy"


def mapped(file: Path) -> NDArray[np.uint8]:
    images: NDArray[np.uint8] = np.load(file, mmap_mode="r")
    return images


def digests(images: NDArray[np.uint8]) -> list[str]:
    return [digest_of(images[start : start + CHUNK]) for start in range(0, len(images), CHUNK)]


def test_a_digest_is_of_bytes_shape_and_type(file: Path) -> None:
    images = np.load(file)
    assert digest_of(images) == digest_of(mapped(file))
    others = [images[::-1], images.reshape(10, 3, 2, 1), images.astype(np.int16), images[:9]]
    assert len({digest_of(other) for other in (images, *others)}) == 5


def test_a_file_mapped_read_only_is_known_again(file: Path, tmp_path: Path) -> None:
    images = mapped(file)
    assert recall(images, CHUNK, tmp_path) == []
    remember(images, digests(images), CHUNK, tmp_path)
    assert recall(mapped(file), CHUNK, tmp_path) == digests(images)


def test_a_part_of_a_file_is_not_the_whole_nor_another_part(file: Path, tmp_path: Path) -> None:
    images = mapped(file)
    for part in (images, images[:8], images[1:9]):
        assert recall(part, CHUNK, tmp_path) == []
        remember(part, digests(part), CHUNK, tmp_path)
    for part in (images, images[:8], images[1:9]):
        assert recall(part, CHUNK, tmp_path) == digests(part)
    assert recall(images, CHUNK + 1, tmp_path) == []


def test_what_can_change_unseen_is_never_remembered(file: Path, tmp_path: Path) -> None:
    writable = np.load(file, mmap_mode="r+")
    for images in (np.load(file), writable, mapped(file)[::2], mapped(file)[[0, 3]]):
        remember(images, digests(images), CHUNK, tmp_path)
        assert recall(images, CHUNK, tmp_path) == []
    assert not (tmp_path / "digests").exists()


def test_a_damaged_memo_is_no_memo(file: Path, tmp_path: Path) -> None:
    images = mapped(file)
    remember(images, digests(images), CHUNK, tmp_path)
    (memo,) = (tmp_path / "digests").iterdir()
    for content in (b"", b"[", b'["only one"]', b"\xff"):
        memo.write_bytes(content)
        assert recall(images, CHUNK, tmp_path) == []
