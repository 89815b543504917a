"""The attributes of a DICOM file that its pixels depend on, as numbers. There is no list of others.

Each is named as in PS3.6. A text is only compared with the words the standard defines for it; it is
never kept, and an error says that it is none of them, not what it is.
"""

from dataclasses import dataclass
from typing import Any, Final, Literal, TypeVar

import numpy as np
from numpy.typing import NDArray

Photometric = Literal[
    "MONOCHROME1", "MONOCHROME2", "RGB", "YBR_FULL", "YBR_FULL_422", "YBR_ICT", "YBR_RCT"
]
Function = Literal["LINEAR", "LINEAR_EXACT", "SIGMOID"]
BurnedIn = Literal["yes", "no", "unknown"]

PHOTOMETRIC: Final[tuple[Photometric, ...]] = (
    *("MONOCHROME1", "MONOCHROME2"),
    *("RGB", "YBR_FULL", "YBR_FULL_422", "YBR_ICT", "YBR_RCT"),
)
FUNCTIONS: Final[tuple[Function, ...]] = ("LINEAR", "LINEAR_EXACT", "SIGMOID")
BURNED_IN: Final = "BurnedInAnnotation"
PIXEL_DATA: Final = "PixelData"
ATTRIBUTES: Final = (
    *("Rows", "Columns", "NumberOfFrames", "SamplesPerPixel", "PlanarConfiguration"),
    *("BitsAllocated", "BitsStored", "HighBit", "PixelRepresentation"),
    *("PhotometricInterpretation", "PixelPaddingValue", "PixelPaddingRangeLimit"),
    *("RescaleSlope", "RescaleIntercept", "ModalityLUTSequence"),
    *("WindowCenter", "WindowWidth", "VOILUTFunction", "VOILUTSequence"),
    *(BURNED_IN, PIXEL_DATA),
)
"""All that is ever read of a file."""


@dataclass(frozen=True, eq=False)
class Curve:
    """A look-up table of the file (PS3.3 C.11.1.1.1)."""

    first: int
    """The value that the first entry belongs to; lower ones get it too."""
    entries: NDArray[np.float64]
    bits: int
    """An entry of 2^bits - 1 is the highest there is."""


@dataclass(frozen=True, eq=False)
class Header:
    """What is needed to decode and to show the pixels."""

    rows: int
    columns: int
    frames: int
    samples: int
    allocated: int
    stored: int
    high: int
    signed: bool
    photometric: Photometric
    padding: tuple[int, int] | None
    """Stored values from..to that are no part of the image."""
    slope: float
    intercept: float
    modality: Curve | None
    window: tuple[float, float] | None
    """Centre and width; the first, if there are several."""
    function: Function
    voi: Curve | None
    burned_in: BurnedIn


def read_header(dataset: Any, *, little_endian: bool) -> Header:
    """`dataset` is a pydicom dataset that was read with no more than `ATTRIBUTES`."""
    stored = _whole(dataset, "BitsStored")
    return Header(
        rows=_whole(dataset, "Rows"),
        columns=_whole(dataset, "Columns"),
        frames=_whole(dataset, "NumberOfFrames", 1),
        samples=_whole(dataset, "SamplesPerPixel", 1),
        allocated=_whole(dataset, "BitsAllocated"),
        stored=stored,
        high=_whole(dataset, "HighBit", stored - 1),
        signed=_whole(dataset, "PixelRepresentation", 0) == 1,
        photometric=_word(dataset, "PhotometricInterpretation", PHOTOMETRIC, None),
        padding=_padding(dataset),
        slope=_number(dataset, "RescaleSlope", 1.0),
        intercept=_number(dataset, "RescaleIntercept", 0.0),
        modality=_curve(dataset, "ModalityLUTSequence", little_endian),
        window=_window(dataset),
        function=_word(dataset, "VOILUTFunction", FUNCTIONS, "LINEAR"),
        voi=_curve(dataset, "VOILUTSequence", little_endian),
        burned_in=burned_in(dataset),
    )


def burned_in(dataset: Any) -> BurnedIn:
    """Whether the file says that texts are burned into its pixels; most files do not say."""
    said: dict[str, BurnedIn] = {"YES": "yes", "NO": "no"}
    return said.get(str(_value(dataset, BURNED_IN)).strip().upper(), "unknown")


def _value(dataset: Any, name: str) -> Any:
    """The value or the first of several; None where there is none."""
    value = dataset.get(name)
    many = not isinstance(value, str | bytes) and hasattr(value, "__len__")
    return (value[0] if len(value) else None) if many else value


def _number(dataset: Any, name: str, default: float | None = None) -> float:
    value = _value(dataset, name)
    if value is None or value == "":
        if default is None:
            raise ValueError(f"the DICOM attribute {name} is missing")
        return default
    try:
        return float(value)
    except (TypeError, ValueError):
        raise ValueError(f"the DICOM attribute {name} is no number") from None


def _whole(dataset: Any, name: str, default: int | None = None) -> int:
    return int(_number(dataset, name, default))


W = TypeVar("W", bound=str)


def _word(dataset: Any, name: str, known: tuple[W, ...], default: W | None) -> W:
    value = str(_value(dataset, name) or default or "").strip().upper()
    for word in known:
        if word == value:
            return word
    raise ValueError(f"the DICOM attribute {name} is none of {', '.join(known)}")


def _padding(dataset: Any) -> tuple[int, int] | None:
    if _value(dataset, "PixelPaddingValue") is None:
        return None
    one = _whole(dataset, "PixelPaddingValue")
    other = _whole(dataset, "PixelPaddingRangeLimit", one)
    return min(one, other), max(one, other)


def _window(dataset: Any) -> tuple[float, float] | None:
    if any(_value(dataset, name) in (None, "") for name in ("WindowCenter", "WindowWidth")):
        return None
    return _number(dataset, "WindowCenter"), _number(dataset, "WindowWidth")


def _curve(dataset: Any, name: str, little_endian: bool) -> Curve | None:
    items = dataset.get(name)
    if not items:
        return None
    try:
        count, first, bits = (int(number) for number in items[0].LUTDescriptor)
        entries = _entries(items[0].LUTData, count or 1 << 16, little_endian)
    except (AttributeError, TypeError, ValueError):
        raise ValueError(f"the table in the DICOM attribute {name} is not readable") from None
    return Curve(first, entries, bits)


def _entries(data: Any, count: int, little_endian: bool) -> NDArray[np.float64]:
    """Exactly `count` numbers; as bytes they take one or two each."""
    if isinstance(data, bytes):
        wide = "<u2" if little_endian else ">u2"
        data = np.frombuffer(data, np.uint8 if len(data) < 2 * count else wide)
    entries = np.atleast_1d(np.asarray(data, dtype=np.float64))[:count]
    if len(entries) < count:
        raise ValueError("too short")
    return entries
