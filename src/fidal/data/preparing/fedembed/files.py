"""Where the tables and the images of EMBED lie below the folders that were given."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Literal

from fidal.data.benchmark import DataAbsent
from fidal.data.preparing.fedembed.tables import Mammogram

Format = Literal["png", "dicom"]

METADATA: Final = ("EMBED_OpenData_metadata_reduced.csv", "EMBED_OpenData_metadata.csv")
CLINICAL: Final = ("EMBED_OpenData_clinical.csv", "EMBED_OpenData_clinical_reduced.csv")
TABLES: Final = (".", "tables", "labelling_tools")
"""Where below a folder a table may lie."""
PNG: Final = (".", "images/png/1024x768", "png/1024x768", "1024x768")
"""Where below a folder the source's <patient>/<image>.png may begin."""
DICOM: Final = (".", "images")
"""Where below a folder cohort_1 and cohort_2 may begin."""


@dataclass(frozen=True)
class Located:
    """Where each mammogram lies."""

    format: Format
    places: tuple[str, ...]
    """Below the images."""
    files: tuple[Path | None, ...]
    """None: there is no such file."""


def find_table(folders: Sequence[Path], names: Sequence[str], what: str) -> Path:
    """The first of `names` that lies in a folder, or in its `tables` or `labelling_tools`."""
    for name in names:
        for folder in folders:
            for below in TABLES:
                if (folder / below / name).is_file():
                    return folder / below / name
    raise DataAbsent(
        f"fedembed needs {what}: {' or '.join(names)}, in one of the folders given with --from or "
        f"in its 'tables' or 'labelling_tools'; looked in {_listed(folders)}"
    )


def locate(
    mammograms: Sequence[Mammogram], folders: Sequence[Path], format: Format | None
) -> Located:
    """The file of each mammogram: in the given format, else as PNG if there are any, else DICOM."""
    patients = {mammogram.patient for mammogram in mammograms}
    png = _roots(folders, PNG, lambda root: any((root / name).is_dir() for name in patients))
    dicom = _roots(folders, DICOM, lambda root: any(root.glob("cohort_[0-9]*/")))
    if format is None:
        format = "png" if png or not dicom else "dicom"
    roots = png if format == "png" else dicom
    if not roots:
        raise DataAbsent(
            f"fedembed finds no images ({format}): neither <patient>/<image>.png below "
            "images/png/1024x768, nor cohort_1/<patient>/... below images; looked in "
            f"{_listed(folders)}"
        )
    places = tuple(_place(mammogram, format) for mammogram in mammograms)
    files = (
        next((root / place for root in roots if (root / place).is_file()), None) for place in places
    )
    return Located(format, places, tuple(files))


def _roots(
    folders: Sequence[Path], below: Iterable[str], holds: Callable[[Path], bool]
) -> list[Path]:
    places = [folder / name for folder in folders for name in below]
    return [place for place in places if place.is_dir() and holds(place)]


def _place(mammogram: Mammogram, format: Format) -> str:
    if format == "dicom":
        return mammogram.path
    return f"{mammogram.patient}/{mammogram.name}.png"


def _listed(folders: Sequence[Path]) -> str:
    return ", ".join(str(folder.absolute()) for folder in folders)
