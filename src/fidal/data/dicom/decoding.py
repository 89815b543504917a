"""Stored pixels out of a DICOM file: pydicom with Pillow, or an error that says what to install."""

from typing import Any

from numpy.typing import NDArray

from fidal.data.dicom.header import PIXEL_DATA, Header
from fidal.data.dicom.library import find_pydicom


def decode_stored(dataset: Any, header: Header, syntax: Any) -> NDArray[Any]:
    """H x W stored values, or H x W x 3 in RGB. `syntax` is the pydicom UID of the encoding."""
    _check(header)
    decoder = _find_decoder(syntax)
    if not syntax.is_encapsulated:
        _check_length(dataset, header)
    try:
        # Unused bits are masked by the caller, who knows where the high bit lies.
        pixels: NDArray[Any]
        pixels, _ = decoder.as_array(dataset, view_only=True, correct_unused_bits=False)
    except MemoryError:
        raise
    except Exception:  # A damaged stream can make a decoder raise anything, with texts in it.
        more = "; ".join(decoder.missing_dependencies)
        hint = f"; if others can show it, install one of: {more}" if more else ""
        raise ValueError(
            f"its pixel data ({_named(syntax)}) are damaged, or of a kind that "
            f"{', '.join(decoder.available_plugins) or 'pydicom'} can't decode{hint}"
        ) from None
    return pixels.astype(pixels.dtype.newbyteorder("="), copy=False)


def _find_decoder(syntax: Any) -> Any:
    try:
        decoder = find_pydicom().pixels.get_decoder(syntax)
    except NotImplementedError:
        raise ValueError(
            f"no decoder is known for the transfer syntax {_named(syntax)}; export the image as "
            "Explicit VR Little Endian"
        ) from None
    if not decoder.is_available:
        raise ValueError(
            f"no decoder is installed for the transfer syntax {_named(syntax)}; install one of: "
            f"{'; '.join(decoder.missing_dependencies)}"
        )
    return decoder


def _check(header: Header) -> None:
    if header.frames > 1:
        raise ValueError(
            f"the DICOM file holds {header.frames} frames; single images are read: export the "
            "synthetic 2D view of a tomosynthesis, or one frame per file"
        )
    gray = header.photometric in ("MONOCHROME1", "MONOCHROME2")
    if header.samples != (1 if gray else 3):
        raise ValueError(f"{header.samples} samples per pixel do not fit {header.photometric}")
    if header.allocated not in ((8, 16) if gray else (8,)):
        raise ValueError(
            f"pixels of {header.allocated} bits ({header.photometric}) are not read; export 8 or "
            "16 bits for grayscale, 8 for colour"
        )
    if not header.stored - 1 <= header.high < header.allocated or header.stored < 1:
        raise ValueError(
            f"{header.stored} bits up to bit {header.high} do not fit into {header.allocated}"
        )


def _check_length(dataset: Any, header: Header) -> None:
    samples = 2 if header.photometric == "YBR_FULL_422" else header.samples
    needed = header.rows * header.columns * samples * header.allocated // 8
    found = len(dataset[PIXEL_DATA].value or b"")
    if needed == 0 or found < needed:
        raise ValueError(
            f"the DICOM file is cut off: {found} bytes of pixel data where {header.rows} x "
            f"{header.columns} pixels need {needed}; copy it again"
        )


def _named(syntax: Any) -> str:
    """The standard's name and number. (The only text of a file that an error repeats.)"""
    return f"{syntax.name} ({syntax})" if syntax.name != syntax else f"{syntax}"
