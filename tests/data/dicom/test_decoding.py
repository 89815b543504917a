import io

import numpy as np
import pydicom
import pytest
from PIL import Image
from pydicom.pixels.decoders.base import Decoder
from pydicom.uid import (
    MPEG2MPML,
    JPEG2000Lossless,
    JPEGBaseline8Bit,
    JPEGExtended12Bit,
    JPEGLosslessSV1,
    JPEGLSLossless,
    RLELossless,
)

from fidal.data.dicom import read_dicom
from tests.data.dicom.made import as_bytes, dataset, packed

RAMP = np.arange(4096, dtype=np.uint16).reshape(64, 64)
GRAY = (RAMP >> 4).astype(np.uint8)


def stream(array: np.ndarray, format: str, **options: object) -> bytes:
    file = io.BytesIO()
    Image.fromarray(array).save(file, format, **options)
    return file.getvalue()


def pixels(made: pydicom.Dataset) -> np.ndarray:
    return read_dicom(as_bytes(made)).pixels


def refused(made: pydicom.Dataset, reason: str) -> str:
    with pytest.raises(ValueError, match=reason) as error:
        pixels(made)
    return str(error.value)


def test_jpeg_jpeg2000_and_run_lengths_come_out() -> None:
    jpeg = packed(dataset(GRAY), JPEGBaseline8Bit, stream(GRAY, "JPEG", quality=95))
    assert np.abs(pixels(jpeg).astype(int) - GRAY).max() <= 4
    wave = stream(RAMP, "JPEG2000", irreversible=False, no_jp2=True)
    lossless = packed(dataset(RAMP), JPEG2000Lossless, wave)
    np.testing.assert_array_equal(pixels(lossless), np.rint(RAMP / 257))
    runs = dataset(RAMP, BitsStored=12)
    runs.compress(RLELossless)
    np.testing.assert_array_equal(pixels(runs), np.rint(RAMP / 4095 * 255))


def test_compressed_colour() -> None:
    colour = np.stack([GRAY, GRAY.T, 255 - GRAY], -1)
    made = dataset(colour, PhotometricInterpretation="YBR_FULL_422")
    found = pixels(packed(made, JPEGBaseline8Bit, stream(colour, "JPEG", quality=95)))
    assert np.abs(found.astype(int) - colour).mean() <= 3


@pytest.mark.parametrize(
    ("syntax", "name", "package"),
    [
        (JPEGLosslessSV1, r"JPEG Lossless.*\(1\.2\.840\.10008\.1\.2\.4\.70\)", "pylibjpeg-libjpeg"),
        (JPEGLSLossless, r"JPEG-LS Lossless.*\(1\.2\.840\.10008\.1\.2\.4\.80\)", "pyjpegls"),
    ],
)
def test_a_syntax_without_a_decoder_is_named_with_what_to_install(
    monkeypatch: pytest.MonkeyPatch, syntax: pydicom.uid.UID, name: str, package: str
) -> None:
    monkeypatch.setattr(Decoder, "is_available", property(lambda self: False))
    made = packed(dataset(RAMP), syntax, b"\xff\xd8 made")
    told = refused(made, f"no decoder is installed for the transfer syntax {name}; install one of")
    assert package in told


def test_a_syntax_that_nobody_decodes() -> None:
    made = packed(dataset(RAMP), MPEG2MPML, b"made")
    refused(made, r"no decoder is known for the transfer syntax MPEG2 .*export the image as Explic")


def test_twelve_bit_jpeg_is_beyond_pillow() -> None:
    made = packed(dataset(RAMP, BitsStored=12), JPEGExtended12Bit, b"\xff\xd8 made")
    refused(made, r"JPEG Extended .*\) are damaged, or of a kind that .*pillow")


def test_a_damaged_stream() -> None:
    whole = stream(GRAY, "JPEG")
    made = packed(dataset(GRAY), JPEGBaseline8Bit, whole[: len(whole) // 2])
    refused(made, r"its pixel data \(JPEG Baseline .*\) are damaged")


def test_a_file_that_is_cut_off() -> None:
    whole = as_bytes(dataset(RAMP))
    for left, reason in ((-100, "is cut off: 8092 bytes of pixel data where 64 x 64"), (400, "")):
        with pytest.raises(ValueError, match=f"DICOM file .*{reason}"):
            read_dicom(whole[:left])


def test_a_file_without_pixels() -> None:
    made = dataset(RAMP)
    del made.PixelData
    refused(made, "holds no pixel data: it is a report or a presentation state, or it is cut off")


def test_several_frames() -> None:
    made = dataset(RAMP, NumberOfFrames=3)
    made.PixelData = RAMP.tobytes() * 3
    refused(made, "holds 3 frames; single images are read: export the synthetic 2D view")
    made = dataset(RAMP, BitsStored=12, NumberOfFrames=1)
    assert pixels(made).shape == (64, 64)


def test_a_private_syntax() -> None:
    known = as_bytes(packed(dataset(RAMP), JPEGLSLossless, b"made"))
    private = known.replace(JPEGLSLossless.encode(), b"1.2.840.113619.5.2.480")
    with pytest.raises(ValueError, match=r"transfer syntax 1\.2\.840\.113619\.5\.2\.480; export"):
        read_dicom(private)


@pytest.mark.parametrize(
    ("attributes", "reason"),
    [
        ({"BitsAllocated": 32, "BitsStored": 32}, "pixels of 32 bits"),
        ({"BitsAllocated": 1, "BitsStored": 1}, "pixels of 1 bits"),
        ({"BitsStored": 12, "HighBit": 16}, "12 bits up to bit 16 do not fit into 16"),
        ({"BitsStored": 12, "HighBit": 10}, "12 bits up to bit 10"),
        ({"SamplesPerPixel": 3}, "3 samples per pixel do not fit MONOCHROME2"),
        ({"PhotometricInterpretation": "PALETTE COLOR"}, "none of MONOCHROME1, MONOCHROME2, RGB"),
        ({"Rows": 0}, "is cut off: 8192 bytes of pixel data where 0 x 64"),
    ],
)
def test_what_is_not_read(attributes: dict[str, object], reason: str) -> None:
    refused(dataset(RAMP, **attributes), reason)


def test_colour_of_sixteen_bits_is_refused() -> None:
    refused(dataset(np.zeros((4, 4, 3), np.uint16)), r"pixels of 16 bits \(RGB\) are not read")
