"""Small DICOM files as a clinic's archive holds them: their headers are full of secrets."""

import io
from pathlib import Path

import numpy as np
from pydicom.dataset import Dataset, FileMetaDataset
from pydicom.encaps import encapsulate
from pydicom.sequence import Sequence
from pydicom.uid import UID, ExplicitVRLittleEndian

MAMMOGRAPHY = UID("1.2.840.10008.5.1.4.1.1.1.2")
UID_OF_IMAGE = "1.2.826.0.1.3680043.8.498.31415926535897932384626433832795028841"
SECRETS = {
    "PatientName": "Sklodowska^Marie",
    "PatientID": "PID-7734019",
    "PatientBirthDate": "18671107",
    "PatientAddress": "Rue Pierre Curie 11",
    "OtherPatientIDs": "ALT-55120",
    "AccessionNumber": "ACC-9981234",
    "InstitutionName": "St. Elsewhere Hospital",
    "ReferringPhysicianName": "Becquerel^Henri",
    "StationName": "MAMMO-ROOM-3",
    "StudyDescription": "Screening of a named person",
    "SeriesDescription": "L CC of a named person",
    "StudyDate": "20110704",
    "StudyTime": "101112.131415",
    "DeviceSerialNumber": "SN-000471",
    "PatientComments": "neighbour of the radiologist",
    "ImageComments": "call back on 555-0137",
    "StudyInstanceUID": "1.2.826.0.1.3680043.8.498.1111111111111",
    "SeriesInstanceUID": "1.2.826.0.1.3680043.8.498.2222222222222",
    "SOPInstanceUID": UID_OF_IMAGE,
}
"""Texts of a header, none of which may be found in anything that is handed on or written."""


def dataset(pixels: np.ndarray, **attributes: object) -> Dataset:
    """A mammogram of these stored values: 16 bits, or 8 if they are uint8; H x W or H x W x 3."""
    made = Dataset()
    made.file_meta = FileMetaDataset()
    made.file_meta.TransferSyntaxUID = ExplicitVRLittleEndian
    made.file_meta.MediaStorageSOPClassUID = MAMMOGRAPHY
    made.file_meta.MediaStorageSOPInstanceUID = UID_OF_IMAGE
    made.SOPClassUID = MAMMOGRAPHY
    for name, text in SECRETS.items():
        setattr(made, name, text)
    made.Rows, made.Columns = pixels.shape[:2]
    made.SamplesPerPixel = 3 if pixels.ndim == 3 else 1
    made.PhotometricInterpretation = "RGB" if pixels.ndim == 3 else "MONOCHROME2"
    if pixels.ndim == 3:
        made.PlanarConfiguration = 0
    made.BitsAllocated = 8 * pixels.dtype.itemsize
    made.BitsStored, made.HighBit = made.BitsAllocated, made.BitsAllocated - 1
    made.PixelRepresentation = int(pixels.dtype.kind == "i")
    made.PixelData = pixels.tobytes() + b"\0" * (pixels.nbytes % 2)
    made["PixelData"].VR = "OW"
    for name, value in attributes.items():
        setattr(made, name, value)
    if "BitsStored" in attributes and "HighBit" not in attributes:
        made.HighBit = made.BitsStored - 1
    return made


def table(first: int, entries: np.ndarray, bits: int, *, words: bool = False) -> Sequence:
    """The sequence of one look-up table; `words`: its data are bytes, as most files have them."""
    item = Dataset()
    item.LUTDescriptor = [len(entries) % (1 << 16), first, bits]
    item.LUTExplanation = "made for a named person"
    item.LUTData = entries.astype("<u2").tobytes() if words else entries.tolist()
    item["LUTData"].VR = "OW" if words else "US"
    item["LUTDescriptor"].VR = "SS" if first < 0 else "US"
    return Sequence([item])


def packed(made: Dataset, syntax: UID, stream: bytes) -> Dataset:
    """The same header around a compressed stream."""
    made.file_meta.TransferSyntaxUID = syntax
    made.PixelData = encapsulate([stream])
    made["PixelData"].VR = "OB"
    return made


def as_bytes(made: Dataset) -> bytes:
    file = io.BytesIO()
    made.save_as(file, enforce_file_format=True)
    return file.getvalue()


def write(path: Path, made: Dataset) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(as_bytes(made))
    return path
