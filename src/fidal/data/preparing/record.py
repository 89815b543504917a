"""A prepared benchmark on the disk.

manifest.csv    one row per image; the column `pixels` has a digest of its pixels
pixels.npy      uint8, images x height x width x channels, in the order of the manifest
benchmark.json  the record: what was prepared, how, and the counts. It is written last; a folder
                without it is not finished
"""

import hashlib
from pathlib import Path
from typing import Final

from pydantic import BaseModel, ConfigDict, JsonValue, ValidationError

from fidal.data.benchmark import DataAbsent
from fidal.data.preparing.collected import Count
from fidal.parts import explain
from fidal.storage import write_atomic

MANIFEST: Final = "manifest.csv"
PIXELS: Final = "pixels.npy"
RECORD: Final = "benchmark.json"


class Quarantined(BaseModel):
    """An image that could not be read and was left out."""

    model_config = ConfigDict(frozen=True, extra="forbid")
    image: str
    site: str
    kind: str
    why: str


class Record(BaseModel):
    """How a folder was prepared."""

    model_config = ConfigDict(frozen=True, extra="forbid")
    benchmark: str
    settings: dict[str, JsonValue]
    """The collector's fields."""
    classes: tuple[str, ...]
    shape: tuple[int, int, int]
    """Height, width, channels."""
    origin: str
    """A digest of what every image was made from, and how."""
    manifest: str
    """SHA-256 of the manifest's file."""
    counts: tuple[Count, ...]
    """As they were collected, before any image was quarantined."""
    missing: tuple[str, ...]
    quarantined: tuple[Quarantined, ...]


def read_record(root: Path) -> Record:
    """The record of a prepared folder."""
    path = root / RECORD
    try:
        return Record.model_validate_json(path.read_bytes())
    except FileNotFoundError:
        raise DataAbsent(
            f"{root.absolute()} holds no prepared benchmark: there is no {RECORD}; write it with "
            "`fidal data prepare ... --out`, which also goes on with an unfinished one"
        ) from None
    except ValidationError as error:
        raise ValueError(f"{path}: not a record of fidal: {explain(error, Record)}") from None


def write_record(root: Path, record: Record) -> None:
    """Atomically: from now on the folder is finished."""
    write_atomic(root / RECORD, record.model_dump_json(indent=1).encode())


def manifest_digest(root: Path) -> str:
    """Of the manifest as it lies there."""
    return hashlib.sha256((root / MANIFEST).read_bytes()).hexdigest()
