"""One array in one file with a checksum, for caches: there whole, or not at all."""

import io
import logging
import zipfile
import zlib
from pathlib import Path
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from fidal.storage import write_atomic

log = logging.getLogger(__name__)

T = TypeVar("T", bound=np.generic)


def keep(path: Path, array: NDArray[np.generic]) -> None:
    """Write the array to `path`, atomically; the folders that lead there are made."""
    path.parent.mkdir(parents=True, exist_ok=True)
    file = io.BytesIO()
    np.savez(file, array=array)
    write_atomic(path, file.getvalue())


def kept(path: Path, shape: tuple[int, ...], dtype: type[T]) -> NDArray[T] | None:
    """The array at `path`, or None: if there is no file, or, with a warning, a damaged one.

    An .npz file is a zip archive, which has a checksum of its content; nothing is unpickled.
    """
    try:
        with np.load(path, allow_pickle=False) as file:
            array: NDArray[T] = file["array"]
        if array.shape != shape or array.dtype != dtype:
            found = f"{array.dtype} of shape {array.shape}"
            raise ValueError(f"it holds {found}, not {np.dtype(dtype)} of shape {shape}")
    except FileNotFoundError:
        return None
    except (ValueError, KeyError, OSError, EOFError, zipfile.BadZipFile, zlib.error) as error:
        log.warning("%s is damaged and will be made anew: %s", path, error)
        return None
    return array
