import io
import sys
import warnings
from dataclasses import fields
from pathlib import Path

import numpy as np
import pydicom
import pytest
from PIL import Image
from pydicom.uid import (
    DeflatedExplicitVRLittleEndian,
    ExplicitVRBigEndian,
    ImplicitVRLittleEndian,
)

from fidal.data.dicom import DicomImage, is_dicom, read_burned_in, read_dicom
from tests.data.dicom.made import SECRETS, as_bytes, dataset, table, write

RAMP = np.arange(4096, dtype=np.uint16).reshape(64, 64)
SHADES = np.rint(RAMP / 4095 * 255).astype(np.uint8)


def pixels(made: pydicom.Dataset) -> np.ndarray:
    return read_dicom(as_bytes(made)).pixels


def test_a_mammogram_of_twelve_bits_in_sixteen() -> None:
    image = read_dicom(as_bytes(dataset(RAMP, BitsStored=12)))
    assert image.burned_in == "unknown"
    assert image.pixels.dtype == np.uint8
    np.testing.assert_array_equal(image.pixels, SHADES)
    assert image.pixels.flags.c_contiguous


def test_sixteen_and_eight_bits() -> None:
    np.testing.assert_array_equal(pixels(dataset(RAMP * 16)), np.rint(RAMP * 16 / 257))
    odd = np.arange(21, dtype=np.uint8).reshape(3, 7)
    np.testing.assert_array_equal(pixels(dataset(odd)), odd)


def test_signed_pixels_in_twelve_and_in_sixteen_bits() -> None:
    signed = RAMP.astype(np.int16) - 2048
    np.testing.assert_array_equal(pixels(dataset(signed, BitsStored=12)), SHADES)
    window = {"WindowCenter": 0, "WindowWidth": 4096}
    found = pixels(dataset(signed, **window))
    np.testing.assert_array_equal(found, np.rint((signed + 2048) / 4095 * 255))


def test_only_the_stored_bits_count() -> None:
    """Overlays lived in the unused bits once, and the high bit need not be the lowest possible."""
    overlay = RAMP | np.where(np.eye(64, dtype=bool), 0xA000, 0).astype(np.uint16)
    np.testing.assert_array_equal(pixels(dataset(overlay, BitsStored=12)), SHADES)
    raised = dataset(RAMP << 4, BitsStored=12, HighBit=15)
    np.testing.assert_array_equal(pixels(raised), SHADES)


def test_window_table_padding_and_negative_are_obeyed() -> None:
    made = dataset(RAMP, BitsStored=12, WindowCenter=1024, WindowWidth=101)
    found = pixels(made)
    assert found[RAMP < 970].max() == 0
    assert found[RAMP > 1080].min() == 255
    made.PhotometricInterpretation = "MONOCHROME1"
    np.testing.assert_array_equal(pixels(made), 255 - found)
    made.PixelPaddingValue = 0
    assert pixels(made)[0, 0] == 0
    assert pixels(made)[0, 1] == 255
    made.VOILUTSequence = table(0, np.linspace(255, 0, 4096).astype(int), 8, words=True)
    assert pixels(made)[-1, -1] == 255


@pytest.mark.parametrize(
    "syntax", [ImplicitVRLittleEndian, DeflatedExplicitVRLittleEndian, ExplicitVRBigEndian]
)
def test_native_transfer_syntaxes(syntax: pydicom.uid.UID) -> None:
    made = dataset(RAMP, BitsStored=12)
    if syntax == ExplicitVRBigEndian:
        made.PixelData = RAMP.byteswap().tobytes()
    made.file_meta.TransferSyntaxUID = syntax
    file = io.BytesIO()
    pydicom.dcmwrite(file, made, enforce_file_format=True, little_endian=None, implicit_vr=None)
    np.testing.assert_array_equal(read_dicom(file.getvalue()).pixels, SHADES)


def test_colour_stays_colour() -> None:
    colour = np.random.default_rng(0).integers(0, 256, (8, 10, 3), dtype=np.uint8)
    np.testing.assert_array_equal(pixels(dataset(colour)), colour)
    planes = dataset(colour, PlanarConfiguration=1)
    planes.PixelData = np.moveaxis(colour, 2, 0).tobytes()
    np.testing.assert_array_equal(pixels(planes), colour)
    ycc = np.asarray(Image.fromarray(colour).convert("YCbCr"))
    found = pixels(dataset(ycc, PhotometricInterpretation="YBR_FULL"))
    assert np.abs(found.astype(int) - colour).max() <= 3


def test_a_file_is_known_by_its_marks(tmp_path: Path) -> None:
    named = write(tmp_path / "IM000001", dataset(RAMP))
    assert is_dicom(named)
    assert is_dicom(named.read_bytes())
    (tmp_path / "a.dcm").write_bytes(b"no image")
    assert not is_dicom(tmp_path / "a.dcm")
    with pytest.raises(ValueError, match="not a DICOM file: the mark DICM is not at its byte 128"):
        read_dicom(tmp_path / "a.dcm")
    with pytest.raises(FileNotFoundError):
        read_dicom(tmp_path / "b.dcm")
    with pytest.raises(FileNotFoundError):
        is_dicom(tmp_path / "b.dcm")


def test_the_flag_of_burned_in_texts_needs_no_pixels(tmp_path: Path) -> None:
    for said, found in (("YES", "yes"), ("NO", "no")):
        path = write(tmp_path / f"{said}.dcm", dataset(RAMP, BurnedInAnnotation=said))
        assert read_burned_in(path) == read_dicom(path).burned_in == found
        path.write_bytes(path.read_bytes()[:-8000])
        assert read_burned_in(path) == found
    (tmp_path / "broken.dcm").write_bytes(b"broken")
    assert read_burned_in(tmp_path / "broken.dcm") == "unknown"
    assert read_burned_in(tmp_path / "absent.dcm") == "unknown"


def test_nothing_of_the_header_leaves(
    tmp_path: Path, capfd: pytest.CaptureFixture[str], caplog: pytest.LogCaptureFixture
) -> None:
    """Neither in what is returned, nor in an error, a warning, a log or on the screen; odd values,
    which pydicom likes to repeat, included."""
    odd = {"PatientBirthDate": "1867-NOV", "PatientAge": "sixty", "BurnedInAnnotation": "MAYBE"}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        made = dataset(RAMP, BitsStored=12, **odd)
        whole = as_bytes(made)
        made.WindowWidth, made.WindowCenter = 0, 7
        bad = as_bytes(made)
    caplog.clear()
    capfd.readouterr()
    with warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter("always")
        image = read_dicom(whole)
        told = [str(_error(piece)) for piece in (bad, whole[:-50], whole[:700], whole[:300])]
    assert {field.name for field in fields(DicomImage)} == {"pixels", "burned_in"}
    assert (type(image.pixels), image.burned_in) == (np.ndarray, "unknown")
    told += [repr(image), caplog.text, *capfd.readouterr(), *(str(w.message) for w in warned)]
    words = (*SECRETS.values(), *odd.values(), made.SOPClassUID)
    assert not [(word, text) for word in words for text in told if word in text]


def _error(file: bytes) -> Exception:
    with pytest.raises(ValueError, match="DICOM") as error:
        read_dicom(file)
    assert error.value.__cause__ is None
    assert error.value.__suppress_context__ or error.value.__context__ is None
    return error.value


def test_without_pydicom_the_extra_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = write(tmp_path / "a.dcm", dataset(RAMP))
    monkeypatch.setitem(sys.modules, "pydicom", None)
    for read in (read_dicom, read_burned_in):
        with pytest.raises(ValueError, match=r"not installed; install 'fidal\[medical\]'"):
            read(path)
