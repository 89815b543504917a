import logging
import os
from pathlib import Path
from typing import ClassVar

import numpy as np
import pytest
from numpy.typing import NDArray

from fidal.encoders.base import Encoder
from fidal.encoders.cache import CHUNK, embed
from fidal.encoders.progress import Progress

N = 2 * CHUNK + 10
IDS = [f"image-{i}" for i in range(N)]


class Means(Encoder):
    """The mean of each channel times `factor`, with a record of what it was asked."""

    name: ClassVar[str] = "means"
    asked: ClassVar[list[int]] = []
    killed_after: ClassVar[int | None] = None
    factor: float = 1.0

    @property
    def dimension(self) -> int:
        return 3

    @property
    def identity(self) -> str:
        return f"means {self.factor}"

    def encode(self, images: NDArray[np.uint8]) -> NDArray[np.float32]:
        if self.killed_after is not None and len(self.asked) >= self.killed_after:
            raise KeyboardInterrupt
        self.asked.append(len(images))
        return (self.factor * images.mean((1, 2))).astype(np.float32)


@pytest.fixture(autouse=True)
def fresh(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Means, "asked", [])
    monkeypatch.setattr(Means, "killed_after", None)


@pytest.fixture
def images() -> NDArray[np.uint8]:
    return np.random.default_rng(0).integers(0, 256, (N, 4, 4, 3), dtype=np.uint8)


def test_it_gives_what_the_encoder_gives_and_asks_once(
    images: NDArray[np.uint8], tmp_path: Path
) -> None:
    first = embed(Means(), IDS, images, tmp_path)
    assert first.dtype == np.float32
    assert np.array_equal(first, Means().encode(images))
    Means.asked.clear()
    assert np.array_equal(embed(Means(), IDS, images, tmp_path), first)
    assert Means.asked == []


def test_memory_mapped_images_are_the_same_images(
    images: NDArray[np.uint8], tmp_path: Path
) -> None:
    np.save(tmp_path / "images.npy", images)
    first = embed(Means(), IDS, images, tmp_path)
    Means.asked.clear()
    mapped = np.load(tmp_path / "images.npy", mmap_mode="r")
    assert np.array_equal(embed(Means(), IDS, mapped, tmp_path), first)
    assert Means.asked == []


def test_a_killed_run_goes_on_where_it_stopped(
    images: NDArray[np.uint8], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Means, "killed_after", 2)
    with pytest.raises(KeyboardInterrupt):
        embed(Means(), IDS, images, tmp_path)
    assert Means.asked == [CHUNK, CHUNK]
    monkeypatch.setattr(Means, "killed_after", None)
    resumed = embed(Means(), IDS, images, tmp_path)
    assert Means.asked == [CHUNK, CHUNK, 10]
    assert np.array_equal(resumed, Means().encode(images))


def test_appended_images_leave_full_chunks_valid(images: NDArray[np.uint8], tmp_path: Path) -> None:
    embed(Means(), IDS[:CHUNK], images[:CHUNK], tmp_path)
    embed(Means(), IDS, images, tmp_path)
    assert Means.asked == [CHUNK, CHUNK, 10]


@pytest.mark.parametrize("what", ["pixel", "id", "encoder", "shape"])
def test_whatever_an_embedding_depends_on_is_in_the_key(
    images: NDArray[np.uint8], tmp_path: Path, what: str
) -> None:
    embed(Means(), IDS, images, tmp_path)
    Means.asked.clear()
    encoder, ids, changed = Means(), list(IDS), images.copy()
    if what == "pixel":
        changed[CHUNK + 5, 1, 2, 0] ^= 1
    elif what == "id":
        ids[CHUNK + 5] = "another"
    elif what == "encoder":
        encoder = Means(factor=2)
    else:
        changed = images.reshape(N, 2, 8, 3)
    rows = embed(encoder, ids, changed, tmp_path)
    assert np.array_equal(rows, encoder.factor * changed.mean((1, 2)).astype(np.float32))
    everything = what in ("encoder", "shape")
    assert Means.asked == ([CHUNK, CHUNK, 10] if everything else [CHUNK])


def test_a_damaged_chunk_is_computed_anew_with_a_warning(
    images: NDArray[np.uint8], tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    first = embed(Means(), IDS, images, tmp_path)
    Means.asked.clear()
    victim = sorted(tmp_path.rglob("*.npz"))[0]
    content = bytearray(victim.read_bytes())
    content[len(content) // 2] ^= 1
    victim.write_bytes(content)
    with caplog.at_level(logging.WARNING):
        assert np.array_equal(embed(Means(), IDS, images, tmp_path), first)
    assert len(Means.asked) == 1 and victim.name in caplog.text
    caplog.clear()
    embed(Means(), IDS, images, tmp_path)
    assert len(Means.asked) == 1 and not caplog.records


def test_progress_is_told_after_each_chunk(images: NDArray[np.uint8], tmp_path: Path) -> None:
    told: list[Progress] = []
    embed(Means(), IDS, images, tmp_path, told.append)
    assert [(p.done, p.total, p.computed) for p in told] == [
        (CHUNK, N, CHUNK),
        (2 * CHUNK, N, 2 * CHUNK),
        (N, N, N),
    ]
    assert 0 < told[0].seconds < told[1].seconds < told[2].seconds
    told.clear()
    embed(Means(), IDS, images, tmp_path, told.append)
    assert [(p.done, p.computed, p.seconds) for p in told][-1] == (N, 0, 0)


def test_no_images_give_no_rows(images: NDArray[np.uint8], tmp_path: Path) -> None:
    assert embed(Means(), [], images[:0], tmp_path).shape == (0, 3)


def test_embeddings_that_are_not_finite_name_the_image_and_are_not_kept(
    images: NDArray[np.uint8], tmp_path: Path
) -> None:
    with pytest.raises(ValueError, match=r"'means' gives NaN .* for 3 images, first 'image-0'"):
        embed(Means(factor=float("inf")), IDS[:3], images[:3] | 1, tmp_path)
    assert not list(tmp_path.rglob("*.npz"))


@pytest.mark.parametrize("kept", ["float32", "float16"])
def test_embeddings_are_kept_as_the_encoder_says_and_come_back_as_they_were(
    images: NDArray[np.uint8], tmp_path: Path, kept: str
) -> None:
    encoder = Means(factor=1 / 3, keep=kept)
    first = embed(encoder, IDS, images, tmp_path)
    exact = encoder.encode(images)
    assert first.dtype == np.float32
    assert np.array_equal(first, exact.astype(kept).astype(np.float32))
    assert np.array_equal(embed(encoder, IDS, images, tmp_path), first)
    with np.load(next(tmp_path.rglob("*.npz"))) as file:
        assert file["array"].dtype == kept


def test_float16_and_float32_do_not_share_files(images: NDArray[np.uint8], tmp_path: Path) -> None:
    embed(Means(factor=1 / 3, keep="float16"), IDS, images, tmp_path)
    encoder = Means(factor=1 / 3)
    assert np.array_equal(embed(encoder, IDS, images, tmp_path), encoder.encode(images))


def test_what_float16_can_not_hold_names_the_image_and_the_way_out(
    images: NDArray[np.uint8], tmp_path: Path
) -> None:
    says = r"beyond 65,504 for 10 images, first 'image-0'; set keep = \"float32\""
    with pytest.raises(ValueError, match=says):
        embed(Means(factor=1000, keep="float16"), IDS[:10], images[:10], tmp_path)


def test_an_encoder_of_another_dimension_than_it_declares_is_refused(
    images: NDArray[np.uint8], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Means, "dimension", 4)
    says = r"'means' gives rows of shape \(10, 3\) for 10 images and declares 4 numbers each"
    with pytest.raises(ValueError, match=says):
        embed(Means(), IDS[:10], images[:10], tmp_path)
    assert not list(tmp_path.rglob("*.npz"))


def test_weights_are_let_go_at_the_end_and_when_killed(
    images: NDArray[np.uint8], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    released: list[bool] = []
    monkeypatch.setattr(Means, "release", lambda self: released.append(True))
    embed(Means(), IDS, images, tmp_path)
    monkeypatch.setattr(Means, "killed_after", 0)
    with pytest.raises(KeyboardInterrupt):
        embed(Means(factor=2), IDS, images, tmp_path)
    assert released == [True, True]


def test_a_run_that_finds_everything_does_not_read_the_pixels_of_a_mapped_file(
    images: NDArray[np.uint8], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    np.save(tmp_path / "images.npy", images)
    mapped = np.load(tmp_path / "images.npy", mmap_mode="r")
    first = embed(Means(), IDS, mapped, tmp_path)

    def read(images: NDArray[np.uint8]) -> str:
        raise AssertionError("hashed again")

    monkeypatch.setattr("fidal.encoders.cache.digest_of", read)
    again = np.load(tmp_path / "images.npy", mmap_mode="r")
    assert np.array_equal(embed(Means(), IDS, again, tmp_path), first)
    other = Means(factor=2)
    assert np.array_equal(embed(other, IDS, again, tmp_path), other.encode(images))


def test_a_mapped_file_that_was_replaced_is_another(
    images: NDArray[np.uint8], tmp_path: Path
) -> None:
    file = tmp_path / "images.npy"
    np.save(file, images)
    embed(Means(), IDS, np.load(file, mmap_mode="r"), tmp_path)
    stat = file.stat()
    np.save(tmp_path / "new.npy", images[::-1])
    (tmp_path / "new.npy").replace(file)
    os.utime(file, ns=(stat.st_atime_ns, stat.st_mtime_ns))  # As old and as large: another inode.
    found = embed(Means(), IDS, np.load(file, mmap_mode="r"), tmp_path)
    assert np.array_equal(found, Means().encode(images[::-1]))


def test_ids_and_images_must_be_as_many(images: NDArray[np.uint8], tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=f"'means': 3 ids for {N} images"):
        embed(Means(), IDS[:3], images, tmp_path)
