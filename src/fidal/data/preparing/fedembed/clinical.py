"""EMBED_OpenData_clinical.csv: one row per finding -> whose exam it is, and which density."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from fidal.data.preparing.fedembed.cells import is_empty, read_numbered, whole
from fidal.data.preparing.originals import Originals
from fidal.data.table import refuse

CLASSES: Final = ("A", "B", "C", "D")
"""BI-RADS breast density: `tissueden` 1 to 4."""
DENSITIES: Final = {str(code): code - 1 for code in range(1, 5)}
NO_DENSITY: Final = ("", "5")
"""Exams without one, and male ones."""
FILES: Final = ("EMBED_OpenData_clinical.csv", "EMBED_OpenData_clinical_reduced.csv")
COLUMNS: Final = ("empi_anon", "acc_anon", "tissueden", "age_at_study")


@dataclass(frozen=True, slots=True)
class Exam:
    """What the first row of an exam that has a density says."""

    patient: str
    density: int
    """0 to 3."""
    has_age: bool


def read_exams(originals: Originals) -> Mapping[str, Exam]:
    """The exams with a density by their number (`acc_anon`), in the order of the table."""
    table = read_numbered(originals, FILES, COLUMNS)
    columns = table.columns
    codes = ["" if is_empty(cell) else whole(cell) for cell in columns["tissueden"]]
    wrong = [code not in DENSITIES and code not in NO_DENSITY for code in codes]
    refuse(table, "tissueden", wrong, "is no density; EMBED has 1, 2, 3, 4 and 5 (male)")
    exams: dict[str, Exam] = {}
    for row, code in enumerate(codes):
        number = columns["acc_anon"][row]
        if code in DENSITIES and number not in exams:
            has_age = not is_empty(columns["age_at_study"][row])
            exams[number] = Exam(columns["empi_anon"][row], DENSITIES[code], has_age)
    return exams
