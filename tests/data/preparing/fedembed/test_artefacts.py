from collections.abc import Callable
from pathlib import Path

import pytest

from fidal.data.preparing.fedembed.artefacts import Annotator, Shown, read_artefacts, resolve
from fidal.data.preparing.fedembed.paper import ARTEFACTS
from fidal.data.preparing.originals import Originals
from tests.data.preparing.fedembed.tree import Row, Tables, embed, name_of, write_tables

KINDS = {
    "circle marker": "circle",
    "triangle marker": "triangle",
    "breast implant": "implant",
    "devices": "devices",
    "compression": "compression",
}


def read(folder: Path, tables: Tables, by: Annotator) -> dict[str, Shown]:
    known = frozenset(name_of(row) for row in tables.metadata)
    return dict(read_artefacts(Originals([write_tables(folder, tables)]), by, known))


def shown(row: Row) -> Shown:
    return frozenset(kind for column, kind in KINDS.items() if row[column] == "1")  # type: ignore[misc]


def test_the_detectors_and_the_experts_tables(tmp_path: Path) -> None:
    tables = embed()
    predicted = read(tmp_path, tables, "predicted")
    expected = {
        name_of(image): shown(row)
        for image, row in zip(tables.metadata, tables.predicted, strict=True)
    }
    assert predicted == expected
    assert {len(artefacts) for artefacts in predicted.values()} == {0, 1, 2}
    manual = read(tmp_path, tables, "manual")
    assert manual == {name: found for name, found in expected.items() if name in manual}
    assert len(manual) == len(tables.manual) - 1 == 139


def test_sigmoid_outputs_are_cut_above_one_half(tmp_path: Path) -> None:
    tables = embed()
    for row in tables.predicted:
        row |= dict.fromkeys(KINDS, "0.5")
    tables.predicted[3] |= {"devices": "0.5001", "compression": "1.0", "circle marker": "4e-1"}
    found = read(tmp_path, tables, "predicted")
    assert found.pop(name_of(tables.metadata[3])) == {"devices", "compression"}
    assert set(found.values()) == {frozenset()}


def test_the_first_of_the_precedence_decides() -> None:
    both: Shown = frozenset({"circle", "implant"})
    assert resolve(both, ARTEFACTS) == "implant"
    assert resolve(both, ARTEFACTS[::-1]) == "circle"
    assert resolve(frozenset(), ARTEFACTS) is None
    assert ARTEFACTS == ("implant", "devices", "compression", "triangle", "circle")


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (
            lambda rows: rows.append(rows[3] | {"devices": "1"}),
            r"row 280, column 'image_path': .* stands in an earlier row too, with other artefacts",
        ),
        (
            lambda rows: rows[4].update(image_path="1/1.2.3.png"),
            r"row 6, column 'image_path': '1/1\.2\.3\.png' is no image of EMBED's metadata",
        ),
        (lambda rows: rows[0].update(devices="yes"), r"column 'devices': 'yes' is no number from"),
        (lambda rows: rows[0].update(devices=""), r"row 2, column 'devices': '' is no number from"),
        (lambda rows: rows[0].update(devices="-0.1"), "'-0.1' is no number from 0 to 1"),
        (lambda rows: rows[0].update(devices="nan"), "'nan' is no number from 0 to 1"),
        (lambda rows: [r.pop("devices") for r in rows], "column 'devices' is missing"),
        (lambda rows: rows.clear(), r"embed\.csv: there is no row below the header"),
    ],
)
def test_bad_annotations(
    tmp_path: Path, change: Callable[[list[Row]], object], reason: str
) -> None:
    tables = embed()
    header = dict(tables.predicted[0])
    change(tables.predicted)
    folder = write_tables(tmp_path, tables) if tables.predicted else None
    if folder is None:
        tables.predicted.append(header)
        folder = write_tables(tmp_path, tables)
        path = folder / "predicted_all_embed.csv"
        path.write_text(path.read_text().splitlines()[0])
    known = frozenset(name_of(row) for row in tables.metadata)
    with pytest.raises(ValueError, match=reason):
        read_artefacts(Originals([folder]), "predicted", known)
