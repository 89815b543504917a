"""EMBED_OpenData_metadata.csv: one row per file -> the usable images of each exam."""

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from fidal.data.preparing.fedembed.cells import is_empty, read_numbered
from fidal.data.preparing.originals import Originals
from fidal.data.table import Table, refuse, repeated

FILES: Final = ("EMBED_OpenData_metadata_reduced.csv", "EMBED_OpenData_metadata.csv")
COLUMNS: Final = (
    *("anon_dicom_path", "empi_anon", "acc_anon", "SeriesDescription", "FinalImageType"),
    *("ViewPosition", "spot_mag", "PatientSex", "ManufacturerModelName"),
)


@dataclass(frozen=True)
class Metadata:
    """The table, and what was found in it."""

    table: Table
    names: tuple[str, ...]
    """Of each row: the file's name without its ending, the number of the image."""
    usable: Mapping[str, list[int]]
    """For each exam its rows that are CC or MLO views of women and no special views."""


def read_metadata(originals: Originals) -> Metadata:
    """The table of images; of two the one with fewer columns, which is faster to read."""
    table = read_numbered(originals, FILES, COLUMNS)
    paths = table.columns["anon_dicom_path"]
    wrong = [not path.endswith(".dcm") for path in paths]
    refuse(table, "anon_dicom_path", wrong, "is no path of a .dcm file")
    names = tuple(Path(path).stem for path in paths)
    usable = defaultdict(list)
    for row in _distinct(table, names):
        if _is_usable(table, row):
            usable[table.columns["acc_anon"][row]].append(row)
    return Metadata(table, names, usable)


def _distinct(table: Table, names: tuple[str, ...]) -> list[int]:
    """Each image's first row; a second one that says something else is an error."""
    first = {name: row for row, name in reversed(list(enumerate(names)))}
    again = repeated(names)
    other = [
        second and any(cells[row] != cells[first[name]] for cells in table.columns.values())
        for row, (name, second) in enumerate(zip(names, again, strict=True))
    ]
    what = "names an image that an earlier row names too, with other values; keep one of them"
    refuse(table, "anon_dicom_path", other, what)
    return [row for row, second in enumerate(again) if not second]


def _is_usable(table: Table, row: int) -> bool:
    columns = table.columns
    return (
        _view(columns["ViewPosition"][row], columns["SeriesDescription"][row]) in ("CC", "MLO")
        and is_empty(columns["spot_mag"][row])
        and columns["PatientSex"][row] == "F"
    )


def _view(position: str, series: str) -> str:
    """The view, from the series' description where the table has none or a known mistake."""
    if series in ("RXCCL", "LXCCL"):
        return "XCCL"
    if is_empty(position) and not is_empty(series):
        return "CC" if "CC" in series else "MLO" if "MLO" in series else ""
    return position
