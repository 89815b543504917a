from collections.abc import Callable
from pathlib import Path

import pytest

from fidal.data.benchmark import DataAbsent
from fidal.data.preparing.fedembed.tables import Embed, Mammogram, read_embed
from fidal.data.preparing.originals import Originals
from tests.data.preparing.fedembed.tree import VIEWS, Tables, embed, name_of, write_tables


def read(folder: Path, tables: Tables) -> Embed:
    return read_embed(Originals([write_tables(folder, tables)]))


def refused(folder: Path, change: Callable[[Tables], object], reason: str) -> None:
    tables = embed()
    change(tables)
    with pytest.raises(ValueError, match=reason):
        read(folder, tables)


def test_usable_images_with_the_density_of_their_exam(tmp_path: Path) -> None:
    tables = embed()
    found = read(tmp_path, tables)
    assert [(what, left) for what, _, left in found.steps] == [
        ("rows of the metadata", 278),
        ("of them usable views", 273),
        ("of them with a density", 271),
    ]
    assert found.names == {name_of(row) for row in tables.metadata}
    ours = {image.name: image for image in found.mammograms}
    assert len(ours) == len(found.mammograms)
    usable = 0
    for row in tables.metadata:
        exam = row["acc_anon"]
        normal = exam.startswith("1") or exam.startswith("3")
        if normal and "Essential" not in row["ManufacturerModelName"]:
            usable += 1
            rows = [r for r in tables.clinical if r["acc_anon"] == exam]
            density = next(float(r["tissueden"]) for r in rows if r["tissueden"])
            assert ours[name_of(row)] == Mammogram(
                name_of(row), row["empi_anon"], int(density) - 1, row["ManufacturerModelName"]
            )
    assert usable == len(ours)


def test_exams_come_in_the_order_of_the_clinical_table(tmp_path: Path) -> None:
    """The base split depends on it: the patients are taken as they appear."""
    tables = embed()
    tables.metadata.reverse()
    patients = dict.fromkeys(image.patient for image in read(tmp_path, tables).mammograms)
    seen = dict.fromkeys(row["empi_anon"] for row in tables.clinical)
    assert list(patients) == [patient for patient in seen if patient in patients]


@pytest.mark.parametrize("view", [v for _, v in VIEWS])
def test_a_view_that_only_the_description_tells(tmp_path: Path, view: str) -> None:
    tables = embed()
    tables.metadata[0] |= {"ViewPosition": "NaN", "SeriesDescription": f"L {view} C-View"}
    names = {image.name for image in read(tmp_path, tables).mammograms}
    assert name_of(tables.metadata[0]) in names


def test_the_full_metadata_do_if_the_reduced_are_absent(tmp_path: Path) -> None:
    whole = read(tmp_path / "a", embed())
    folder = write_tables(tmp_path / "b", embed()) / "tables"
    (folder / "EMBED_OpenData_metadata_reduced.csv").rename(folder / "EMBED_OpenData_metadata.csv")
    assert read_embed(Originals([tmp_path / "b"])) == whole


def test_a_table_that_is_not_there(tmp_path: Path) -> None:
    folder = write_tables(tmp_path, embed())
    (folder / "tables/EMBED_OpenData_clinical.csv").unlink()
    reason = r"there is no 'EMBED_OpenData_clinical\.csv' below .*: it comes with EMBED, in its fol"
    with pytest.raises(DataAbsent, match=reason):
        read_embed(Originals([folder]))


@pytest.mark.parametrize("column", ["anon_dicom_path", "spot_mag", "ManufacturerModelName"])
def test_a_missing_column_of_the_metadata(tmp_path: Path, column: str) -> None:
    def drop(tables: Tables) -> None:
        for row in tables.metadata:
            row[f"{column}_"] = row.pop(column)

    reason = rf"metadata_reduced\.csv: column '{column}' is missing; did you mean '{column}_'"
    refused(tmp_path, drop, reason)


def test_a_missing_column_of_the_clinical_table(tmp_path: Path) -> None:
    def drop(tables: Tables) -> None:
        for row in tables.clinical:
            del row["tissueden"]

    refused(tmp_path, drop, r"clinical\.csv: column 'tissueden' is missing")


@pytest.mark.parametrize("density", ["6.0", "0", "2.5", "B"])
def test_a_density_that_there_is_not(tmp_path: Path, density: str) -> None:
    def change(tables: Tables) -> None:
        tables.clinical[4]["tissueden"] = density

    where = rf"clinical\.csv, row 6, column 'tissueden': '{density.removesuffix('.0')}"
    refused(tmp_path, change, rf"{where}.* is no density; EMBED has 1, 2, 3, 4 and 5 \(male\)")


def test_an_unknown_scanner(tmp_path: Path) -> None:
    def change(tables: Tables) -> None:
        for row in tables.metadata[:3]:
            row["ManufacturerModelName"] = "Selenia Dimension"

    where = r"metadata_reduced\.csv, row 2, column 'ManufacturerModelName'"
    what = r"'Selenia Dimension' is an unknown scanner; did you mean 'Selenia Dimensions'\?"
    refused(tmp_path, change, rf"{where}: {what} \(and 2 more rows\)")


def test_an_unknown_scanner_of_an_image_that_is_not_used(tmp_path: Path) -> None:
    tables = embed()
    unused = next(row for row in tables.metadata if row["FinalImageType"] == "cview")
    unused["ManufacturerModelName"] = "Another"
    assert read(tmp_path, tables).mammograms == read(tmp_path / "b", embed()).mammograms


def test_a_patient_who_is_another_in_the_other_table(tmp_path: Path) -> None:
    def change(tables: Tables) -> None:
        tables.metadata[5]["empi_anon"] = "99999999"

    reason = (
        r"row 7, column 'empi_anon': '99999999' is not the patient whom the clinical table names "
        r".* one patient would stand in both training and test"
    )
    refused(tmp_path, change, reason)


def test_a_row_that_stands_twice_counts_once(tmp_path: Path) -> None:
    tables = embed()
    tables.metadata.append(dict(tables.metadata[0]))
    assert read(tmp_path, tables).mammograms == read(tmp_path / "b", embed()).mammograms


def test_two_rows_that_contradict_each_other(tmp_path: Path) -> None:
    def change(tables: Tables) -> None:
        tables.metadata.append(tables.metadata[0] | {"ViewPosition": "MLO"})

    reason = r"row 280, column 'anon_dicom_path': .* names an image that an earlier row names too"
    refused(tmp_path, change, reason)


@pytest.mark.parametrize("name", ["empi_anon", "acc_anon"])
def test_numbers_that_are_none(tmp_path: Path, name: str) -> None:
    def change(tables: Tables) -> None:
        tables.clinical[0][name] = "7.5e9"

    refused(tmp_path, change, rf"clinical\.csv, row 2, column '{name}': '7\.5e9' is no number")


def test_numbers_as_tables_like_to_write_them(tmp_path: Path) -> None:
    tables = embed()
    for row in tables.clinical:
        row["acc_anon"] += ".0"
        row["empi_anon"] += ".0"
    assert read(tmp_path, tables) == read(tmp_path / "b", embed())


def test_a_path_that_is_none(tmp_path: Path) -> None:
    def change(tables: Tables) -> None:
        tables.metadata[2]["anon_dicom_path"] = "somewhere"

    refused(tmp_path, change, r"row 4, column 'anon_dicom_path': 'somewhere' is no path of a \.dcm")
