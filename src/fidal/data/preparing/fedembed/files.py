"""Which file each mammogram has."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Literal

from fidal.data.benchmark import DataAbsent
from fidal.data.preparing.fedembed.tables import Mammogram
from fidal.data.preparing.originals import Originals

Format = Literal["png", "dicom"]
ENDINGS: Final[Mapping[Format, str]] = {"png": ".png", "dicom": ".dcm"}


@dataclass(frozen=True)
class Located:
    """Where each mammogram lies."""

    format: Format
    files: tuple[Path | None, ...]
    """None: there is no such file."""


def locate(mammograms: Sequence[Mammogram], originals: Originals, format: Format | None) -> Located:
    """The file of each mammogram: in the given format, else as PNG if there are any, else DICOM.

    One format for all, for the two are not the same pixels.
    """
    for wanted in ENDINGS if format is None else (format,):
        files = tuple(_files(mammograms, originals, ENDINGS[wanted]))
        if any(files):
            return Located(wanted, files)
    endings = " or ".join(ENDINGS.values() if format is None else (ENDINGS[format],))
    raise DataAbsent(
        f"fedembed: of {len(mammograms):,} images not one {endings} file is below the folders "
        "given with --from: EMBED's images/cohort_1 and cohort_2, or the same as PNG"
    )


def _files(
    mammograms: Sequence[Mammogram], originals: Originals, ending: str
) -> Iterator[Path | None]:
    return (originals.find(f"{mammogram.name}{ending}") for mammogram in mammograms)
