"""From stored values to shades of gray, by the steps of PS3.3 C.11.

stored bits -> value (two's complement) -> modality table or slope and intercept -> VOI table or
window -> 0..1 -> MONOCHROME1 inverted -> 0..255. A VOI table goes before a window, the first of
several before the others. Without either, the range that the stored bits can give is black to
white: one fixed scale, never stretched per image, so that brightness stays comparable.
Padding is black.
"""

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

from fidal.data.dicom.header import Curve, Header

Values = NDArray[np.float64]


def shades(header: Header) -> NDArray[np.uint8]:
    """The shade of every pattern of `header.stored` bits, so that an image is one look-up."""
    stored = np.arange(1 << header.stored, dtype=np.float64)
    if header.signed:
        stored[len(stored) // 2 :] -= len(stored)
    shown = _shown(header, _modality(header, stored))
    if header.photometric == "MONOCHROME1":
        shown = 1 - shown
    if header.padding is not None:
        low, high = header.padding
        shown[(stored >= low) & (stored <= high)] = 0
    return np.rint(shown * 255).astype(np.uint8)


def _modality(header: Header, stored: Values) -> Values:
    if header.modality is not None:
        return _look_up(header.modality, stored)
    return stored * header.slope + header.intercept


def _shown(header: Header, values: Values) -> Values:
    """0..1 for black..white of MONOCHROME2."""
    if header.voi is not None:
        return np.clip(_look_up(header.voi, values) / ((1 << header.voi.bits) - 1), 0, 1)
    if header.window is not None:
        return _windowed(header, values, *header.window)
    low, high = float(values.min()), float(values.max())
    return (values - low) / ((high - low) or 1.0)


def _look_up(curve: Curve, values: Values) -> Values:
    places = np.clip(np.rint(values) - curve.first, 0, len(curve.entries) - 1)
    entries: Values = curve.entries[places.astype(np.int64)]
    return entries


def _windowed(header: Header, values: Values, centre: float, width: float) -> Values:
    """PS3.3 C.11.2.1.2 and C.11.2.1.3."""
    if header.function == "LINEAR":
        if width < 1:
            raise ValueError(f"the DICOM window is {width:g} wide; LINEAR needs at least 1")
        if width == 1:
            return (values > centre - 0.5).astype(np.float64)
        return np.clip((values - (centre - 0.5)) / (width - 1) + 0.5, 0, 1)
    if width <= 0:
        raise ValueError(f"the DICOM window is {width:g} wide; it must be wider than 0")
    if header.function == "LINEAR_EXACT":
        return np.clip((values - centre) / width + 0.5, 0, 1)
    sigmoid: Values = expit(4 * (values - centre) / width)
    return sigmoid
