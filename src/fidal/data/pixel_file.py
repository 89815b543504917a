"""Many images of one shape in one .npy file, written over as many lives of a process as it takes.

While it grows, hidden files lie beside the place where it will stand: `.part` has room for every
image; `.done` is a journal, one line per batch that is on the disk, with the print of what each
image was made from; `.moving` is there while gaps are closed. Nothing that the journal names is
made again unless its print has changed.
"""

import hashlib
import os
import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, BinaryIO, Final

import numpy as np
from numpy.typing import NDArray
from pydantic import JsonValue

from fidal.rows import append, read
from fidal.storage import sync_folder, write_atomic, writing

HEADER: Final = 128
"""Bytes before the pixels. NumPy pads its header so that the first axis may change in place."""

MOVED: Final = 1 << 26
"""Bytes that are moved at once when gaps are closed."""


def digest(pixels: NDArray[np.uint8]) -> str:
    """Sixteen hexadecimal digits of one image's pixels."""
    return hashlib.blake2b(np.ascontiguousarray(pixels).data, digest_size=8).hexdigest()


class PixelFile:
    """Room for one image per print, in hidden files called `name` beside `target`.

    A print is a text that changes with anything that the image's pixels depend on. One process at
    a time may work on a name.
    """

    def __init__(
        self, target: Path, name: str, prints: Sequence[str], shape: tuple[int, int, int]
    ) -> None:
        self.target = target
        self.digests: dict[int, str] = {}
        """Of the images that are there, by row."""
        self.gaps: dict[int, str] = {}
        """Why images will never be there: said to `finish`, in this life or an earlier one."""
        self._part, self._journal, self._moving = (
            target.with_name(f".{name}.{end}") for end in ("part", "done", "moving")
        )
        self._prints, self._shape, self._size = prints, shape, int(np.prod(shape))
        if self._journal.exists():
            self._recall()
        if not self.digests:
            for stale in (self._journal, self._moving, self._part):
                stale.unlink(missing_ok=True)
        self._make_room()

    @property
    def pending(self) -> list[int]:
        """Rows without pixels."""
        known = self.digests.keys() | self.gaps.keys()
        return [row for row in range(len(self._prints)) if row not in known]

    def add(self, images: Mapping[int, NDArray[np.uint8]]) -> None:
        """Images by row; they are on the disk when this returns."""
        if not images:
            return
        with writing(self.target), self._part.open("r+b") as file:
            for row, image in images.items():
                file.seek(HEADER + row * self._size)
                file.write(image.tobytes())
            _sync(file)
        made = {row: digest(image) for row, image in images.items()}
        notes: list[JsonValue] = [[row, self._prints[row], made[row]] for row in made]
        append(self._journal, {"made": notes})
        self.digests |= made

    def finish(self, gaps: Mapping[int, str]) -> list[int]:
        """Close the gaps and take the name. Out: which row each image of the file was.

        The journal stays until `forget`: a maker who is killed before having noted what is in the
        file finds it as it was.
        """
        kept = sorted(self.digests)
        if gaps and not self.gaps:
            self.gaps = dict(gaps)
            notes: list[JsonValue] = [[row, self._prints[row], why] for row, why in gaps.items()]
            append(self._journal, {"gaps": notes})
        with writing(self.target), self._part.open("r+b") as file:
            self._close_gaps(file, kept)
            file.truncate(HEADER + len(kept) * self._size)
            file.seek(0)
            header = {"descr": "|u1", "fortran_order": False, "shape": (len(kept), *self._shape)}
            np.lib.format.write_array_header_1_0(file, header)
            _sync(file)
            self._part.replace(self.target)
            sync_folder(self.target.parent)
        return kept

    def forget(self) -> None:
        """Remove the journal: what the file holds is noted elsewhere."""
        self._journal.unlink(missing_ok=True)
        self._moving.unlink(missing_ok=True)

    def _recall(self) -> None:
        if self.target.exists() and not self._part.exists():
            self.target.replace(self._part)  # Its maker was killed before it could forget.
        made: dict[int, tuple[str, str]] = {}
        gaps: dict[int, tuple[str, str]] = {}
        for line in read(self._journal):
            notes: Any = line
            made |= {row: (print_, what) for row, print_, what in notes.get("made", ())}
            gaps |= {row: (print_, why) for row, print_, why in notes.get("gaps", ())}
        self.digests, self.gaps = self._still(made), self._still(gaps)
        if gaps and len(self.digests) + len(self.gaps) != len(self._prints):
            self.digests, self.gaps = {}, {}  # Images have moved already, and others are asked for.

    def _still(self, noted: Mapping[int, tuple[str, str]]) -> dict[int, str]:
        """What was noted of rows whose print is as it was."""
        known = dict(enumerate(self._prints))
        return {row: what for row, (print_, what) in noted.items() if known.get(row) == print_}

    def _make_room(self) -> None:
        folder, needed = self.target.parent, len(self.pending) * self._size
        folder.mkdir(parents=True, exist_ok=True)
        free = shutil.disk_usage(folder).free
        if free < needed:
            raise ValueError(
                f"decoded pixels need {needed / 1e6:,.0f} MB at {folder}, where {free / 1e6:,.0f} "
                "MB are free; make room, choose a smaller size or another folder"
            )
        if not self.gaps:
            with writing(self.target), self._part.open("ab") as file:
                file.truncate(HEADER + len(self._prints) * self._size)

    def _close_gaps(self, file: BinaryIO, kept: Sequence[int]) -> None:
        """Move the images up. A copy of what is being moved lies beside: a kill loses nothing."""
        begin = self._move(file) if self._moving.exists() else 0
        step = max(1, MOVED // self._size)
        for start in range(begin, len(kept), step):
            rows = kept[start : start + step]
            if rows[-1] > start + len(rows) - 1:
                images = b"".join(self._image(file, row) for row in rows)
                write_atomic(self._moving, start.to_bytes(8, "big") + images)
                self._move(file)

    def _image(self, file: BinaryIO, row: int) -> bytes:
        file.seek(HEADER + row * self._size)
        return file.read(self._size)

    def _move(self, file: BinaryIO) -> int:
        """Put the copy in its place. Out: the row after it."""
        content = self._moving.read_bytes()
        start = int.from_bytes(content[:8], "big")
        file.seek(HEADER + start * self._size)
        file.write(memoryview(content)[8:])
        _sync(file)
        return start + (len(content) - 8) // self._size


def _sync(file: BinaryIO) -> None:
    file.flush()
    os.fsync(file.fileno())
