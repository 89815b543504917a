"""EMBED's two tables joined: one row per usable mammogram, in the order of the source's table.

The filters are those of the base split's code (Roschewitz et al., MedIA 2025): see `metadata.py`
and `clinical.py`; then an age is known, the image is two-dimensional, and the scanner is not the
one that the source holds out.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from fidal.data.preparing.fedembed.clinical import Exam, read_exams
from fidal.data.preparing.fedembed.metadata import Metadata, read_metadata
from fidal.data.preparing.fedembed.paper import JOINED_ROWS, METADATA_ROWS, USABLE_ROWS
from fidal.data.preparing.fedembed.scanners import HELD_OUT, KNOWN
from fidal.data.preparing.originals import Originals
from fidal.data.table import refuse

Joined = Sequence[tuple[int, Exam]]
"""Rows of the metadata and their exams."""


@dataclass(frozen=True, slots=True)
class Mammogram:
    """One usable image."""

    name: str
    """The number of the image, unique in EMBED; its file has it as name."""
    patient: str
    density: int
    """0 to 3."""
    scanner: str


@dataclass(frozen=True)
class Embed:
    """What the tables hold."""

    mammograms: tuple[Mammogram, ...]
    names: frozenset[str]
    """Of all images of the metadata, the unusable ones too."""
    steps: tuple[tuple[str, int, int], ...]
    """Rows left after each step: what, how many the source has, how many are here."""


def read_embed(originals: Originals) -> Embed:
    """The usable mammograms: exam by exam in the order of the clinical table."""
    images, exams = read_metadata(originals), read_exams(originals)
    joined = [
        (row, exam) for number, exam in exams.items() for row in images.usable.get(number, ())
    ]
    _check_patients(images, joined)
    kinds = images.table.columns["FinalImageType"]
    kept = [(row, exam) for row, exam in joined if exam.has_age and kinds[row] == "2D"]
    _check_scanners(images, kept)
    steps = (
        ("rows of the metadata", METADATA_ROWS, len(images.names)),
        ("of them usable views", USABLE_ROWS, sum(map(len, images.usable.values()))),
        ("of them with a density", JOINED_ROWS, len(joined)),
    )
    mammograms = (_mammogram(images, row, exam) for row, exam in kept)
    of_split = tuple(image for image in mammograms if image.scanner not in HELD_OUT)
    return Embed(of_split, frozenset(images.names), steps)


def _mammogram(images: Metadata, row: int, exam: Exam) -> Mammogram:
    columns: Mapping[str, Sequence[str]] = images.table.columns
    scanner = columns["ManufacturerModelName"][row]
    return Mammogram(images.names[row], exam.patient, exam.density, scanner)


def _check_patients(images: Metadata, joined: Joined) -> None:
    """Both tables agree on whose exam it is, or a patient might stand on both sides."""
    patients = images.table.columns["empi_anon"]
    wrong = [False] * len(patients)
    for row, exam in joined:
        wrong[row] = exam.patient != patients[row]
    refuse(
        images.table,
        "empi_anon",
        wrong,
        "is not the patient whom the clinical table names for the same exam (acc_anon), so one "
        "patient would stand in both training and test; take both tables from the same release",
    )


def _check_scanners(images: Metadata, kept: Joined) -> None:
    scanners = images.table.columns["ManufacturerModelName"]
    wrong = [False] * len(scanners)
    for row, _ in kept:
        wrong[row] = scanners[row] not in KNOWN
    refuse(images.table, "ManufacturerModelName", wrong, "is an unknown scanner", KNOWN)
