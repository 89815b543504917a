"""The split files of FedISIC: which image belongs to which centre, fold and class.

FLamby's `train_test_split` has 23,247 rows; the open-set file has 11,760 outliers more, with the
target 8. Both have the columns image, target, center and fold, parted by commas or tabs.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from fidal.data.benchmark import TEST, TRAIN, DataAbsent
from fidal.data.table import check_present, read_table, refuse, repeated
from fidal.types import OUTLIER

CLASSES: Final = ("MEL", "NV", "BCC", "AK", "BKL", "DF", "VASC", "SCC")
CENTRES: Final[Mapping[str, str]] = {
    "0": "bcn",
    "1": "vidir_molemax",
    "2": "vidir_modern",
    "3": "rosendahl",
    "4": "msk",
    "5": "vienna_dias",
}
"""FLamby's numbers; the benchmark has the first four."""
SITES: Final = tuple(CENTRES.values())[:4]
UNKNOWN: Final = str(len(CLASSES))
"""The target of an outlier."""


@dataclass(frozen=True)
class Row:
    """One image of a split file."""

    image: str
    """The name without extension."""
    site: str
    split: str
    label: int


def read_split(path: Path) -> list[Row]:
    """The rows of the benchmark's four sites, outliers included."""
    if not path.is_file():
        raise DataAbsent(
            f"split: no file {path.absolute()}; it is FLamby's `train_test_split`, or the open-set "
            "CSV that names outliers too"
        )
    table = read_table(path, ("image", "target", "center", "fold"))
    check_present(table, ())
    columns, targets = table.columns, [*map(str, range(len(CLASSES))), UNKNOWN]
    refuse(table, "image", repeated(columns["image"]), "stands in an earlier row too")
    for column, known in (("target", targets), ("center", [*CENTRES]), ("fold", [TRAIN, TEST])):
        refuse(table, column, [cell not in known for cell in columns[column]], "is unknown", known)
    rows = zip(*(columns[name] for name in ("image", "center", "fold", "target")), strict=True)
    return [
        Row(image, CENTRES[centre], fold, OUTLIER if target == UNKNOWN else int(target))
        for image, centre, fold, target in rows
        if CENTRES[centre] in SITES
    ]
