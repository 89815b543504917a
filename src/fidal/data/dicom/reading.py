"""A DICOM file -> 8-bit pixels and whether texts are burned in."""

import io
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from fidal.data.dicom.decoding import decode_stored
from fidal.data.dicom.grayscale import shades
from fidal.data.dicom.header import (
    ATTRIBUTES,
    BURNED_IN,
    PIXEL_DATA,
    BurnedIn,
    Header,
    burned_in,
    read_header,
)
from fidal.data.dicom.library import find_pydicom

RULE: Final = 1
"""To be raised when the same file gives other pixels."""


@dataclass(frozen=True, eq=False)
class DicomImage:
    """All that leaves a DICOM file."""

    pixels: NDArray[np.uint8]
    """H x W, or H x W x 3 where the file is in colour."""
    burned_in: BurnedIn


def is_dicom(source: Path | bytes) -> bool:
    """Whether the file's marks are those of DICOM; its name does not matter."""
    if isinstance(source, bytes):
        return source[128:132] == b"DICM"
    with source.open("rb") as file:
        return file.read(132)[128:] == b"DICM"


def read_dicom(source: Path | bytes) -> DicomImage:
    """The image of a single-frame file as it is meant to be seen, see `grayscale.py`."""
    dataset = _read(source, ATTRIBUTES, pixels=True)
    if PIXEL_DATA not in dataset:
        raise ValueError(
            "the DICOM file holds no pixel data: it is a report or a presentation state, or it is "
            "cut off before them; leave it out or copy it again"
        )
    uids = find_pydicom().uid
    syntax = uids.UID(dataset.file_meta.get("TransferSyntaxUID", ""))
    if not syntax:
        raise ValueError("the DICOM file does not say its transfer syntax; export it again")
    header = read_header(dataset, little_endian=syntax != uids.ExplicitVRBigEndian)
    stored = decode_stored(dataset, header, syntax)
    pixels = stored if header.samples == 3 else _gray(stored, header)
    return DicomImage(np.ascontiguousarray(pixels, dtype=np.uint8), header.burned_in)


def read_burned_in(source: Path) -> BurnedIn:
    """The flag alone: no pixels are read, and a file that can't be read says nothing."""
    find_pydicom()
    try:
        return burned_in(_read(source, (BURNED_IN,), pixels=False))
    except (ValueError, OSError):
        return "unknown"


def _gray(stored: NDArray[Any], header: Header) -> NDArray[np.uint8]:
    patterns = stored.view(f"u{stored.dtype.itemsize}")
    if header.high >= header.stored:
        patterns = patterns >> (header.high + 1 - header.stored)
    if header.stored < 8 * patterns.dtype.itemsize:
        patterns = patterns & ((1 << header.stored) - 1)
    return np.take(shades(header), patterns)


def _read(source: Path | bytes, attributes: tuple[str, ...], *, pixels: bool) -> Any:
    pydicom = find_pydicom()
    try:
        return pydicom.dcmread(
            io.BytesIO(source) if isinstance(source, bytes) else source,
            stop_before_pixels=not pixels,
            specific_tags=list(attributes),
        )
    except FileNotFoundError:
        raise
    except pydicom.errors.InvalidDicomError:
        raise ValueError("not a DICOM file: the mark DICM is not at its byte 128") from None
    except MemoryError:
        raise
    except Exception:  # A damaged header can make pydicom raise anything, with texts in it.
        raise ValueError("the header of the DICOM file is damaged; copy it again") from None
