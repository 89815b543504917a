"""Hashes of the pixels, chunk by chunk; those of a memory-mapped file are remembered.

At 100,000 images of 224 pixels hashing them takes 15 seconds of a core and reads 15 GB, which a run
that finds all embeddings in the cache would otherwise never touch. The pixel cache writes a file
once and puts a new one in its place, never into it; so a file that is mapped read-only is known by
path, inode, size and time of change. Whatever is not such a file is hashed every time.
"""

import hashlib
import json
import mmap
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fidal.storage import write_atomic


def digest_of(images: NDArray[np.uint8]) -> str:
    """SHA-256 of the bytes, shape and type."""
    total = hashlib.sha256(json.dumps([images.shape, str(images.dtype)]).encode())
    total.update(np.ascontiguousarray(images).data)
    return total.hexdigest()


def recall(images: NDArray[np.uint8], chunk: int, cache: Path) -> Sequence[str]:
    """The digests of all chunks, or none if they are not known."""
    memo = _memo(images, chunk, cache)
    try:
        digests: list[str] = [] if memo is None else json.loads(memo.read_text("utf-8"))
    except (OSError, ValueError):
        return []
    return digests if len(digests) == -(-len(images) // chunk) else []


def remember(images: NDArray[np.uint8], digests: Sequence[str], chunk: int, cache: Path) -> None:
    """Keep them for the next time if the images are a file that can be known again."""
    memo = _memo(images, chunk, cache)
    if memo is not None:
        memo.parent.mkdir(parents=True, exist_ok=True)
        write_atomic(memo, json.dumps(list(digests)).encode())


def _memo(images: NDArray[np.uint8], chunk: int, cache: Path) -> Path | None:
    place = _place(images)
    if place is None:
        return None
    file, offset = place
    stat = file.stat()
    key = [str(file), stat.st_ino, stat.st_size, stat.st_mtime_ns, offset, images.shape, chunk]
    name = hashlib.sha256(json.dumps(key).encode()).hexdigest()[:40]
    return cache / "digests" / f"{name}.json"


def _place(images: NDArray[np.uint8]) -> tuple[Path, int] | None:
    """File and first byte of images that are one piece of a file mapped read-only."""
    whole: Any = images
    while isinstance(whole.base, np.memmap):
        whole = whole.base
    if not isinstance(whole, np.memmap) or not isinstance(whole.base, mmap.mmap):
        return None
    if whole.mode != "r" or not images.flags.c_contiguous or whole.filename is None:
        return None
    return Path(whole.filename).resolve(), int(whole.offset + _address(images) - _address(whole))


def _address(array: NDArray[np.uint8]) -> int:
    return int(array.__array_interface__["data"][0])
