"""DICOM: pixels as a reading room shows them, and one flag. Nothing else of a header leaves here.

Only the attributes listed in `header.py` are read from a file at all; they become plain numbers,
and no error repeats a text that stood in the file.
"""

from fidal.data.dicom.reading import RULE, DicomImage, is_dicom, read_burned_in, read_dicom

__all__ = ["RULE", "DicomImage", "is_dicom", "read_burned_in", "read_dicom"]
