import math
from dataclasses import replace

import numpy as np
import pytest

from fidal.data.dicom.grayscale import shades
from fidal.data.dicom.header import Curve, Function, Header

PLAIN = Header(
    rows=1,
    columns=1,
    frames=1,
    samples=1,
    allocated=16,
    stored=12,
    high=11,
    signed=False,
    photometric="MONOCHROME2",
    padding=None,
    slope=1.0,
    intercept=0.0,
    modality=None,
    window=None,
    function="LINEAR",
    voi=None,
    burned_in="unknown",
)


def shade(values: list[int], /, **fields: object) -> list[int]:
    header = replace(PLAIN, **fields)  # type: ignore[arg-type]
    return [int(shades(header)[value % (1 << header.stored)]) for value in values]


def standard_linear(x: float, centre: float, width: float) -> float:
    """PS3.3 C.11.2.1.2.1, line by line, for an output of 0..255."""
    if x <= centre - 0.5 - (width - 1) / 2:
        return 0
    if x > centre - 0.5 + (width - 1) / 2:
        return 255
    return ((x - (centre - 0.5)) / (width - 1) + 0.5) * 255


def standard_exact(x: float, centre: float, width: float) -> float:
    """PS3.3 C.11.2.1.3.2."""
    if x <= centre - width / 2:
        return 0
    if x > centre + width / 2:
        return 255
    return ((x - centre) / width + 0.5) * 255


def standard_sigmoid(x: float, centre: float, width: float) -> float:
    """PS3.3 C.11.2.1.3.1, as a hyperbolic tangent, which can't overflow."""
    return 255 / 2 * (1 + math.tanh(2 * (x - centre) / width))


@pytest.mark.parametrize("window", [(2048.0, 4096.0), (540.0, 580.0), (100.5, 2.0), (3000.0, 1.0)])
@pytest.mark.parametrize(
    ("function", "rule"),
    [
        ("LINEAR", standard_linear),
        ("LINEAR_EXACT", standard_exact),
        ("SIGMOID", standard_sigmoid),
    ],
)
def test_windows_follow_the_standard_at_every_stored_value(
    window: tuple[float, float], function: Function, rule: object
) -> None:
    found = shades(replace(PLAIN, window=window, function=function))
    assert found.dtype == np.uint8
    expected = [rule(x, *window) for x in range(4096)]  # type: ignore[operator]
    assert np.abs(found - np.array(expected)).max() <= 0.5 + 1e-6


def test_a_window_works_on_rescaled_values() -> None:
    found = shade([0, 1000, 2000], slope=2.0, intercept=-1000.0, window=(1000.0, 4001.0))
    assert found == shade([0, 2000, 4000], window=(2000.0, 4001.0))
    assert found == [0, 128, 255]


def test_without_a_window_the_stored_bits_are_the_range() -> None:
    assert shade([0, 819, 2048, 4095]) == [0, 51, 128, 255]
    assert shade([0, 255, 4095], stored=16) == [0, 1, 16]
    assert shade([0, 7, 255], stored=8) == [0, 7, 255]
    assert shade([0, 4095], slope=-1.0) == [255, 0]


def test_signed_values_count_from_the_most_negative() -> None:
    assert shade([-2048, -1, 0, 2047], signed=True) == [0, 127, 128, 255]
    assert shade([-100, 0, 100], signed=True, window=(0.5, 201.0)) == [0, 128, 255]


def test_monochrome1_is_the_negative() -> None:
    values = list(range(0, 4096, 5))
    plain = shade(values, window=(1000.0, 1501.0))
    negative = shade(values, window=(1000.0, 1501.0), photometric="MONOCHROME1")
    assert [255 - v for v in plain] == pytest.approx(negative, abs=1)
    assert negative[0] == 255
    assert negative[-1] == 0


def test_a_table_of_the_file_goes_before_its_window() -> None:
    curve = Curve(first=100, entries=np.array([0.0, 1023.0, 512.0, 256.0]), bits=10)
    found = shade([0, 100, 101, 102, 103, 4095], voi=curve, window=(1.0, 2.0))
    assert found == [0, 0, 255, 128, 64, 64]


def test_a_modality_table_replaces_slope_and_intercept() -> None:
    curve = Curve(first=0, entries=np.array([0.0, 100.0, 200.0]), bits=8)
    found = shade([0, 1, 2], modality=curve, slope=7.0, window=(100.5, 201.0))
    assert found == [0, 128, 255]


@pytest.mark.parametrize("photometric", ["MONOCHROME1", "MONOCHROME2"])
def test_padding_is_black_whatever_it_would_be(photometric: str) -> None:
    found = shade([4000, 4050, 4095], padding=(4050, 4095), photometric=photometric)
    assert found[1:] == [0, 0]
    assert found[0] != 0
    assert shade([-3], padding=(-3, -3), signed=True, window=(-50.0, 3.0)) == [0]


@pytest.mark.parametrize(
    ("function", "width"), [("LINEAR", 0.5), ("LINEAR_EXACT", 0.0), ("SIGMOID", -3.0)]
)
def test_a_window_that_shows_nothing_is_refused(function: Function, width: float) -> None:
    with pytest.raises(ValueError, match=f"the DICOM window is {width:g} wide"):
        shade([0], window=(10.0, width), function=function)
