"""Which artefacts a mammogram shows: an expert's annotations, or a detector's predictions.

Both are tables of github.com/biomedia-mira/mammo-artifacts with five columns, one per type; an
image may have several. "manual" has 0 and 1 for 22,012 images; "predicted" has 0 and 1, or the
detector's sigmoid outputs, for all.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final, Literal

from fidal.data.preparing.fedembed.paper import ARTEFACTS, Artefact
from fidal.data.preparing.originals import Originals
from fidal.data.table import Table, check_present, refuse

Annotator = Literal["manual", "predicted"]
FILES: Final[Mapping[Annotator, str]] = {
    "manual": "manual_annotations_full_new.csv",
    "predicted": "predicted_all_embed.csv",
}
COLUMNS: Final[Mapping[Artefact, str]] = {
    "implant": "breast implant",
    "devices": "devices",
    "compression": "compression",
    "triangle": "triangle marker",
    "circle": "circle marker",
}
THRESHOLD: Final = 0.5

Shown = frozenset[Artefact]


def read_artefacts(
    originals: Originals, by: Annotator, known: frozenset[str]
) -> Mapping[str, Shown]:
    """The artefacts of each image in the table, by the image's number; `known`: of all images."""
    columns = ("image_path", *COLUMNS.values())
    table = originals.table(FILES[by], columns, "the repository biomedia-mira/mammo-artifacts")
    check_present(table, columns)
    names = [Path(cell).stem for cell in table.columns["image_path"]]
    unknown = [name not in known for name in names]
    refuse(
        table,
        "image_path",
        unknown,
        "is no image of EMBED's metadata; are both of the same release, and is the metadata whole?",
    )
    above = {artefact: _above(table, column) for artefact, column in COLUMNS.items()}
    shown: dict[str, Shown] = {}
    other = []
    for row, name in enumerate(names):
        found = frozenset(artefact for artefact in ARTEFACTS if above[artefact][row])
        other.append(shown.setdefault(name, found) != found)
    what = "stands in an earlier row too, with other artefacts; keep one of them"
    refuse(table, "image_path", other, what)
    return shown


def _above(table: Table, column: str) -> list[bool]:
    values = [_share(cell) for cell in table.columns[column]]
    refuse(table, column, [value is None for value in values], "is no number from 0 to 1")
    return [value is not None and value > THRESHOLD for value in values]


def _share(cell: str) -> float | None:
    try:
        value = float(cell)
    except ValueError:
        return None
    return value if 0 <= value <= 1 else None


def resolve(shown: Shown, precedence: Sequence[Artefact]) -> Artefact | None:
    """The one type that an image counts as: the first of `precedence` that it shows."""
    return next((artefact for artefact in precedence if artefact in shown), None)
