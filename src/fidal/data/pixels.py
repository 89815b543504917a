"""The pixels of many images: made once, then memory-mapped as uint8 by all runs."""

import hashlib
import itertools
import json
import logging
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from fidal.data.pixel_file import PixelFile
from fidal.data.render import Origin, Render, render_all
from fidal.storage import hold, write_atomic

log = logging.getLogger(__name__)

Told = Callable[[int, int], None]
"""Told how many images are done, of how many."""


@dataclass(frozen=True, eq=False)
class Decoded:
    """The readable images."""

    pixels: NDArray[np.uint8]
    """n x height x width x channels, memory-mapped and read-only."""
    rows: NDArray[np.int64]
    """Which of the images asked for these n are; all of them unless some were quarantined."""


def decode(
    names: Sequence[str],
    images: Sequence[Origin],
    render: Render[Origin],
    cache: Path,
    *,
    quarantine: bool = False,
) -> Decoded:
    """The pixels of images (files, or the bytes of files), from `cache` if there.

    The key is what they depend on, see `prints_of`. Images that cannot be read are one error that
    names and counts them; with `quarantine` they are left out, and a warning names them.
    """
    prints = prints_of(names, images, render)
    target = cache / "pixels" / f"{hash_of(prints)}.npy"
    target.parent.mkdir(parents=True, exist_ok=True)
    found = _read(target)
    if found is None:
        with hold(target.parent, wait=True):
            found = _read(target) or _make(target, names, images, prints, render, quarantine)
    pixels, unreadable = found
    if unreadable:
        _refuse(unreadable, len(names), quarantine)
        log.warning("%s; left out", describe(unreadable, len(names)))
    rows = [row for row, name in enumerate(names) if name not in unreadable]
    return Decoded(pixels, np.array(rows, dtype=np.int64))


def fill(
    file: PixelFile,
    images: Sequence[Origin],
    render: Render[Origin],
    told: Told = lambda done, n: None,
) -> dict[int, str]:
    """Make the images that the file lacks. Out: the rows that cannot be read, and why."""
    unreadable, pending = dict(file.gaps), file.pending
    done = len(images) - len(pending)
    told(done, len(images))
    rows = iter(pending)
    for results in render_all([images[row] for row in pending], render):
        batch = dict(zip(itertools.islice(rows, len(results)), results, strict=True))
        unreadable |= {row: made for row, made in batch.items() if isinstance(made, str)}
        file.add({row: made for row, made in batch.items() if not isinstance(made, str)})
        done += len(batch)
        told(done, len(images))
    return unreadable


def prints_of(names: Sequence[str], images: Sequence[Origin], render: Render[Origin]) -> list[str]:
    """What each image's pixels depend on: its name, its file's path, size and time of change (or
    its bytes), and the render."""
    return [
        hash_of([render.identity, name, _content(image)])
        for name, image in zip(names, images, strict=True)
    ]


def _content(image: object) -> str:
    if isinstance(image, bytes):
        return hashlib.blake2b(image, digest_size=16).hexdigest()
    assert isinstance(image, Path)
    stat = image.stat() if image.is_file() else None
    return f"{image.absolute()} {stat and (stat.st_size, stat.st_mtime_ns)}"


def hash_of(words: Iterable[str]) -> str:
    """24 hexadecimal digits."""
    key = hashlib.blake2b(digest_size=12)
    for word in words:
        key.update(f"{word}\0".encode())
    return key.hexdigest()


Cached = tuple[NDArray[np.uint8], Mapping[str, str]]
"""The pixels of the readable images; for each of the others its name and what is wrong with it."""


def _read(target: Path) -> Cached | None:
    """What the cache holds; None if that is nothing, or damaged and so to be made again."""
    try:
        unreadable = json.loads(target.with_suffix(".json").read_text("utf-8"))
        return np.load(target, mmap_mode="r"), unreadable
    except (OSError, ValueError, EOFError):
        return None


def _make(
    target: Path,
    names: Sequence[str],
    images: Sequence[Origin],
    prints: Sequence[str],
    render: Render[Origin],
    quarantine: bool,
) -> Cached:
    # The growing file's name leaves out what changes when a broken image is repaired.
    file = PixelFile(target, hash_of([render.identity, *names]), prints, render.shape)
    gaps = fill(file, images, render)
    unreadable = {names[row]: why for row, why in gaps.items()}
    _refuse(unreadable, len(names), quarantine)
    file.finish(gaps)
    write_atomic(target.with_suffix(".json"), json.dumps(unreadable, indent=1).encode())
    file.forget()
    return np.load(target, mmap_mode="r"), unreadable


def _refuse(unreadable: Mapping[str, str], n: int, quarantine: bool) -> None:
    if len(unreadable) == n:
        raise ValueError(f"{describe(unreadable, n)}; are they where the source says?")
    if unreadable and not quarantine:
        raise ValueError(
            f"{describe(unreadable, n)}; repair them, or set quarantine = true in the source to "
            "leave them out"
        )


def describe(unreadable: Mapping[str, str], n: int) -> str:
    """How many of `n` images cannot be read, and the first five by name."""
    first = ", ".join(f"'{name}' ({why})" for name, why in itertools.islice(unreadable.items(), 5))
    more = ", ..." if len(unreadable) > 5 else ""
    return f"{len(unreadable)} of {n} images cannot be read: {first}{more}"
