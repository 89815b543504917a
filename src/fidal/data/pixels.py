"""The pixel cache: every image decoded once, then memory-mapped as uint8 by all runs."""

import hashlib
import itertools
import json
import logging
import math
import os
import shutil
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

import numpy as np
from numpy.typing import NDArray
from PIL import UnidentifiedImageError

from fidal.data.picture import Recipe, picture
from fidal.storage import write_atomic

log = logging.getLogger(__name__)

RULE = 1
"""To be raised when `picture.py` changes what it makes of the same file."""

BATCH = 256
"""Images decoded ahead of the writer: 37 MiB at 224 pixels."""


@dataclass(frozen=True, eq=False)
class Decoded:
    """The readable images."""

    pixels: NDArray[np.uint8]
    """n x size x size x 3, memory-mapped and read-only."""
    rows: NDArray[np.int64]
    """Which of the images asked for these n are; all of them unless some were quarantined."""


def decode(
    names: Sequence[str],
    images: Sequence[Path | bytes],
    recipe: Recipe,
    cache: Path,
    *,
    quarantine: bool = False,
) -> Decoded:
    """The images (files, or the bytes of files) by the rule of `picture.py`, from `cache` if there.

    The key is what the pixels depend on: names, recipe, and each file's path, size and time of
    change (or its bytes). Images that cannot be read are one error that names and counts them;
    with `quarantine` they are left out, and a warning names them.
    """
    target = cache / "pixels" / f"{_key(names, images, recipe)}.npy"
    pixels, unreadable = _read(target) or _write(names, images, recipe, target, quarantine)
    if unreadable:
        _refuse(unreadable, len(names), quarantine)
        log.warning("%s; left out", _describe(unreadable, len(names)))
    rows = [row for row, name in enumerate(names) if name not in unreadable]
    return Decoded(pixels, np.array(rows, dtype=np.int64))


Cached = tuple[NDArray[np.uint8], Mapping[str, str]]
"""The pixels of the readable images; for each of the others its name and what is wrong with it."""


def _read(target: Path) -> Cached | None:
    """What the cache holds; None if that is nothing, or damaged and so to be made again."""
    try:
        unreadable = json.loads(target.with_suffix(".json").read_text("utf-8"))
        return np.load(target, mmap_mode="r"), unreadable
    except (OSError, ValueError, EOFError):
        return None


def _write(
    names: Sequence[str],
    images: Sequence[Path | bytes],
    recipe: Recipe,
    target: Path,
    quarantine: bool,
) -> Cached:
    """Decode all. The pixels appear at `target` whole or not at all, after the list beside it."""
    target.parent.mkdir(parents=True, exist_ok=True)
    shape = (recipe.size, recipe.size, 3)
    _check_space(len(names) * math.prod(shape), target.parent)
    unfinished = target.with_name(f".{target.name}.{os.getpid()}.tmp")
    unreadable: dict[str, str] = {}
    try:
        with unfinished.open("wb") as file:
            _write_header(file, len(names), shape)
            for name, result in zip(names, _in_parallel(images, recipe), strict=True):
                if isinstance(result, str):
                    unreadable[name] = result
                else:
                    file.write(result.tobytes())
            _refuse(unreadable, len(names), quarantine)
            file.seek(0)
            _write_header(file, len(names) - len(unreadable), shape)
            file.flush()
            os.fsync(file.fileno())
        write_atomic(target.with_suffix(".json"), json.dumps(unreadable, indent=1).encode())
        unfinished.replace(target)
        return np.load(target, mmap_mode="r"), unreadable
    finally:
        unfinished.unlink(missing_ok=True)


def _write_header(file: BinaryIO, n: int, shape: tuple[int, ...]) -> None:
    # NumPy pads its header so that the first axis may change in place: same length for every n.
    header = {"descr": "|u1", "fortran_order": False, "shape": (n, *shape)}
    np.lib.format.write_array_header_1_0(file, header)


def _in_parallel(
    images: Sequence[Path | bytes], recipe: Recipe
) -> Iterator[NDArray[np.uint8] | str]:
    """Each image's pixels, or why there are none, in order; a batch at a time bounds the memory."""

    def attempt(image: Path | bytes) -> NDArray[np.uint8] | str:
        try:
            return picture(image, recipe)
        except FileNotFoundError:
            return f"there is no file {image!s}"
        except UnidentifiedImageError:
            return "not an image of a known format"
        except MemoryError:
            raise
        except Exception as error:  # A broken file can make a decoder raise anything.
            return str(error) or type(error).__name__

    with ThreadPoolExecutor(os.cpu_count()) as pool:
        for start in range(0, len(images), BATCH):
            yield from pool.map(attempt, images[start : start + BATCH])


def _key(names: Sequence[str], images: Sequence[Path | bytes], recipe: Recipe) -> str:
    key = hashlib.blake2b(f"{RULE} {recipe}".encode(), digest_size=12)
    for name, image in zip(names, images, strict=True):
        if isinstance(image, bytes):
            content = hashlib.blake2b(image, digest_size=16).hexdigest()
        else:
            stat = image.stat() if image.is_file() else None
            content = f"{image.absolute()} {stat and (stat.st_size, stat.st_mtime_ns)}"
        key.update(f"{name}\0{content}\0".encode())
    return key.hexdigest()


def _check_space(needed: int, folder: Path) -> None:
    free = shutil.disk_usage(folder).free
    if free < needed:
        raise ValueError(
            f"decoded pixels need {needed / 1e6:,.0f} MB at {folder}, where {free / 1e6:,.0f} MB "
            "are free; make room, choose a smaller size or another cache folder"
        )


def _refuse(unreadable: Mapping[str, str], n: int, quarantine: bool) -> None:
    if len(unreadable) == n:
        raise ValueError(f"{_describe(unreadable, n)}; are they where the source says?")
    if unreadable and not quarantine:
        raise ValueError(
            f"{_describe(unreadable, n)}; repair them, or set quarantine = true in the source to "
            "leave them out"
        )


def _describe(unreadable: Mapping[str, str], n: int) -> str:
    first = ", ".join(f"'{name}' ({why})" for name, why in itertools.islice(unreadable.items(), 5))
    more = ", ..." if len(unreadable) > 5 else ""
    return f"{len(unreadable)} of {n} images cannot be read: {first}{more}"
