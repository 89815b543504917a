"""The paper's benchmarks, read from the folders that `fidal data prepare` has written."""

from pathlib import Path
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from fidal.data.benchmark import Benchmark, Manifest
from fidal.data.covered import Covered
from fidal.data.manifest import read_manifest
from fidal.data.preparing.record import MANIFEST, PIXELS, Record, read_record


class Prepared(Covered):
    """A prepared benchmark: its manifest and its memory-mapped pixels, with coverage features."""

    root: Path = Field(description="the folder that `fidal data prepare --out` has written")

    def load(self, cache: Path) -> Benchmark:
        """All images; of the pixels only what is looked at is read."""
        record = read_record(self.root)
        if record.benchmark != self.name:
            raise ValueError(
                f"benchmark.root: {self.root} holds {record.benchmark}, not {self.name}"
            )
        manifest, pixels = read_prepared(self.root, record)
        return self.covered(manifest, pixels, cache)


class FedIsic(Prepared):
    """FedISIC: four dermoscopy clinics of ISIC 2019, clinical photographs as outliers."""

    name: ClassVar[str] = "fedisic"


class FedCamelyon(Prepared):
    """FedCamelyon: lymph node patches of five hospitals, slide artefacts as outliers."""

    name: ClassVar[str] = "fedcamelyon"


class FedEmbed(Prepared):
    """FedEMBED: breast density by four mammography scanners, artefacts as outliers."""

    name: ClassVar[str] = "fedembed"


def read_prepared(root: Path, record: Record) -> tuple[Manifest, NDArray[np.uint8]]:
    """The manifest and the pixels, which fit each other and the record."""
    manifest = read_manifest(root / MANIFEST, record.classes)
    try:
        pixels: NDArray[np.uint8] = np.load(root / PIXELS, mmap_mode="r", allow_pickle=False)
    except (OSError, ValueError, EOFError) as error:
        raise ValueError(f"{root / PIXELS} can't be read: {error}; {_AGAIN}") from None
    expected = (len(manifest.ids), *record.shape)
    if pixels.dtype != np.uint8 or pixels.shape != expected:
        found = f"{pixels.dtype} of shape {pixels.shape}"
        raise ValueError(f"{root / PIXELS} holds {found}, not uint8 of shape {expected}; {_AGAIN}")
    return manifest, pixels


_AGAIN = "prepare the benchmark again in an empty folder"
