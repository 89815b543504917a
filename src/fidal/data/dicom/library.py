"""pydicom, made to keep what it reads to itself."""

import importlib
import logging
import warnings
from typing import Any


def find_pydicom() -> Any:
    """The library that reads DICOM files."""
    try:
        pydicom: Any = importlib.import_module("pydicom")
        importlib.import_module("pydicom.pixels")
    except ImportError:
        raise ValueError(
            "DICOM files need pydicom, which is not installed; install 'fidal[medical]'"
        ) from None
    # It warns of odd values by repeating them on stderr: a header must not leave that way. What is
    # wrong with a file is found and said by this package.
    pydicom.config.settings.reading_validation_mode = pydicom.config.IGNORE
    warnings.filterwarnings("ignore", module=r"pydicom(\.|$)")
    logging.getLogger("pydicom").setLevel(logging.CRITICAL + 1)
    return pydicom
