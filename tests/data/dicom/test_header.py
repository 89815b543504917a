import io

import numpy as np
import pydicom
import pytest
from pydicom.dataset import Dataset
from pydicom.uid import ImplicitVRLittleEndian

from fidal.data.dicom.header import ATTRIBUTES, BurnedIn, Header, read_header
from tests.data.dicom.made import SECRETS, as_bytes, dataset, table

PIXELS = np.zeros((4, 6), np.uint16)


def header(made: Dataset) -> Header:
    read = pydicom.dcmread(io.BytesIO(as_bytes(made)), specific_tags=list(ATTRIBUTES))
    return read_header(read, little_endian=True)


def test_numbers_of_a_mammogram() -> None:
    found = header(
        dataset(
            PIXELS,
            BitsStored=12,
            WindowCenter=["540.5", "600"],
            WindowWidth=["580", "700"],
            VOILUTFunction="SIGMOID",
            RescaleSlope="2",
            RescaleIntercept="-10",
            PixelPaddingValue=4095,
            PixelPaddingRangeLimit=4000,
            BurnedInAnnotation="NO",
        )
    )
    assert (found.rows, found.columns, found.frames, found.samples) == (4, 6, 1, 1)
    assert (found.allocated, found.stored, found.high, found.signed) == (16, 12, 11, False)
    assert found.window == (540.5, 580.0)
    assert found.function == "SIGMOID"
    assert (found.slope, found.intercept) == (2.0, -10.0)
    assert found.padding == (4000, 4095)
    assert found.burned_in == "no"


def test_what_may_be_absent() -> None:
    found = header(dataset(PIXELS))
    assert found.window is found.padding is found.voi is found.modality is None
    assert (found.slope, found.intercept, found.function) == (1.0, 0.0, "LINEAR")
    assert found.burned_in == "unknown"
    assert header(dataset(PIXELS, WindowCenter=None, WindowWidth=None)).window is None


@pytest.mark.parametrize("implicit", [False, True])
@pytest.mark.parametrize("words", [False, True])
def test_tables_as_numbers_or_bytes(words: bool, implicit: bool) -> None:
    made = dataset(
        PIXELS.astype(np.int16),
        VOILUTSequence=table(-5, np.array([0, 300, 1023]), 10, words=words),
        ModalityLUTSequence=table(7, np.arange(4), 8, words=words),
    )
    if implicit:
        made.file_meta.TransferSyntaxUID = ImplicitVRLittleEndian
    found = header(made)
    assert found.voi is not None
    assert found.modality is not None
    assert (found.voi.first, found.voi.bits, found.voi.entries.tolist()) == (-5, 10, [0, 300, 1023])
    assert (found.modality.first, found.modality.entries.tolist()) == (7, [0, 1, 2, 3])


def test_a_table_of_65536_entries_says_so_with_a_zero() -> None:
    found = header(dataset(PIXELS, VOILUTSequence=table(0, np.arange(1 << 16), 16, words=True)))
    assert found.voi is not None
    assert found.voi.entries.tolist() == list(range(1 << 16))


def test_a_table_that_is_too_short() -> None:
    made = dataset(PIXELS, VOILUTSequence=table(0, np.arange(9), 8))
    made.VOILUTSequence[0].LUTDescriptor = [10, 0, 8]
    with pytest.raises(ValueError, match="the table in the DICOM attribute VOILUTSequence"):
        header(made)


@pytest.mark.parametrize(("said", "found"), [("YES", "yes"), ("NO", "no"), ("", "unknown")])
def test_the_flag_of_burned_in_texts(said: str, found: BurnedIn) -> None:
    assert header(dataset(PIXELS, BurnedInAnnotation=said)).burned_in == found


@pytest.mark.parametrize("name", ["Rows", "Columns", "BitsAllocated", "BitsStored"])
def test_what_must_be_there(name: str) -> None:
    made = dataset(PIXELS)
    delattr(made, name)
    with pytest.raises(ValueError, match=f"the DICOM attribute {name} is missing"):
        header(made)


@pytest.mark.parametrize("name", ["PhotometricInterpretation", "VOILUTFunction"])
def test_unknown_words_are_refused_and_not_repeated(name: str) -> None:
    made = dataset(PIXELS)
    setattr(made, name, "A PERSON")
    with pytest.raises(ValueError, match=f"the DICOM attribute {name} is none of") as error:
        header(made)
    assert "PERSON" not in str(error.value)


def test_no_text_of_the_file_is_in_the_header() -> None:
    made = dataset(PIXELS, VOILUTSequence=table(0, np.arange(9), 8), BurnedInAnnotation="YES")
    told = repr(header(made))
    assert not [text for text in (*SECRETS.values(), "named person") if text in told]
