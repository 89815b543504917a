"""A small EMBED: the original's folders, file names and columns, with more columns than are read.

50 patients, two of three with one exam and the others with two, four views per exam, all
deterministic. What the base split leaves out is in the tables too.
"""

import csv
import io
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from PIL import Image

from tests.data.dicom.made import dataset, write

SCANNERS = (
    *("Selenia Dimensions", "Selenia Dimensions", "Selenia Dimensions", "Lorad Selenia"),
    *("Senograph 2000D ADS_17.4.5", "Senograph 2000D ADS_17.5", "Clearview CSm"),
    *("Selenia Dimensions", "Senographe Pristina", "Senographe Essential VERSION ADS_53.40"),
)
VIEWS = (("L", "CC"), ("L", "MLO"), ("R", "CC"), ("R", "MLO"))
MARKERS = ("circle marker", "triangle marker", "breast implant", "devices", "compression")
ROOT = "/mnt/NAS2/mammo/anon_dicom"

Row = dict[str, str]


@dataclass
class Tables:
    """Rows that a test may change before they are written."""

    metadata: list[Row] = field(default_factory=list)
    clinical: list[Row] = field(default_factory=list)
    predicted: list[Row] = field(default_factory=list)
    manual: list[Row] = field(default_factory=list)


def name_of(row: Row) -> str:
    """The number of the image."""
    return Path(row["anon_dicom_path"]).stem


def embed() -> Tables:
    """All four tables. Every 7th image shows a circle, and so on; half are annotated by hand."""
    tables = Tables()
    order = np.random.default_rng(0).permutation(50)
    for turn, patient in enumerate(order.tolist()):
        number = str(10_000_000 + 1_234_567 * (patient + 1) % 90_000_000)
        for exam in range(1 + (turn % 3 == 0)):
            accession = str(10**15 + turn * 10 + exam)
            density = (turn + exam) % 4 + 1
            tables.clinical += _findings(number, accession, density)
            for view in VIEWS:
                tables.metadata.append(_image(number, accession, view, SCANNERS[turn % 10]))
    _left_out(tables)
    for place, row in enumerate(tables.metadata):
        shown = _markers(place)
        path = f"{row['empi_anon']}/{name_of(row)}.png"
        tables.predicted.append(
            {**shown, "image_path": f"/data/EMBED/images/png/1024x768/{path}"}
            | {"image_id": f"{name_of(row)}.png"}
        )
        if place % 2:
            ids = {name: row[name] for name in ("acc_anon", "empi_anon", "SeriesDescription")}
            tables.manual.append({"image_path": path, **ids, **shown})
    tables.manual.append(dict(tables.manual[3]))  # The original has two such rows.
    return tables


def _findings(patient: str, accession: str, density: int) -> Iterator[Row]:
    """One row per finding: the first without a density every now and then, the last contradicts."""
    row = {
        "empi_anon": patient,
        "acc_anon": accession,
        "desc": "MG Screening, Bilateral",
        "side": "",
    }
    if int(accession) % 4 == 0:
        yield {**row, "numfind": "1", "tissueden": "", "age_at_study": ""}
    yield {**row, "numfind": "2", "tissueden": f"{density}.0", "age_at_study": "61.5"}
    yield {**row, "numfind": "3", "tissueden": f"{density % 4 + 1}.0", "age_at_study": "61.5"}


def _image(patient: str, accession: str, view: tuple[str, str], scanner: str) -> Row:
    side, position = view
    number = f"1.2.826.0.1.3680043.8.498.{accession}{VIEWS.index(view)}"
    series = f"1.2.847.113975.{accession}/1.2.844.113684.{VIEWS.index(view)}"
    return {
        "empi_anon": patient,
        "acc_anon": accession,
        "anon_dicom_path": f"{ROOT}/cohort_{1 + int(patient) % 2}/{patient}/{series}/{number}.dcm",
        "study_date_anon": "2015-02-22",
        "SeriesDescription": f"{side} {position}",
        "FinalImageType": "2D",
        "ImageLateralityFinal": side,
        "ViewPosition": position,
        "spot_mag": "",
        "PatientSex": "F",
        "Manufacturer": "HOLOGIC, Inc.",
        "ManufacturerModelName": scanner,
        "ROI_coords": "[[1, 2], [3, 4]]",
    }


def _left_out(tables: Tables) -> None:
    """One image for each filter, with an exam of its own beside patients who are there."""
    changes: tuple[tuple[Row, Row], ...] = (
        ({"FinalImageType": "cview"}, {}),
        ({"spot_mag": "1.0"}, {}),
        ({"ViewPosition": "ML"}, {}),
        ({"ViewPosition": "", "SeriesDescription": "L ML"}, {}),
        ({"ViewPosition": "CC", "SeriesDescription": "RXCCL"}, {}),
        ({"PatientSex": "M"}, {}),
        ({}, {"tissueden": "5.0"}),
        ({}, {"tissueden": ""}),
        ({}, {"age_at_study": "nan"}),
    )
    for place, (image, exam) in enumerate(changes):
        patient, accession = tables.clinical[place]["empi_anon"], str(2 * 10**15 + place)
        made = _image(patient, accession, VIEWS[0], "Selenia Dimensions") | image
        tables.metadata.append(made)
        row = {**tables.clinical[1], "empi_anon": patient, "acc_anon": accession}
        tables.clinical.append(row | {"tissueden": "2.0", "age_at_study": "50.0"} | exam)
    described = _image(tables.clinical[0]["empi_anon"], "3000000000000000", VIEWS[0], SCANNERS[0])
    tables.metadata.append(described | {"ViewPosition": "", "SeriesDescription": "L CC"})
    row = {**tables.clinical[1], "empi_anon": described["empi_anon"]}
    tables.clinical.append(row | {"acc_anon": "3000000000000000", "tissueden": "3"})


def _markers(place: int) -> Row:
    every = dict(zip(MARKERS, (7, 11, 13, 17, 19), strict=True))
    return {marker: str(int(place % step == 0 and place > 0)) for marker, step in every.items()}


def write_tables(folder: Path, tables: Tables) -> Path:
    """Where the originals have them: EMBED's in tables, the others as in their repository."""
    places = {
        "tables/EMBED_OpenData_metadata_reduced.csv": tables.metadata,
        "tables/EMBED_OpenData_clinical.csv": tables.clinical,
        "predicted_all_embed.csv": tables.predicted,
        "labelling_tools/manual_annotations_full_new.csv": tables.manual,
    }
    for name, rows in places.items():
        text = io.StringIO(newline="")
        writer = csv.DictWriter(text, list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text.getvalue())
    return folder


def write_png(
    folder: Path, tables: Tables, draw: Callable[[Row], np.ndarray] | None = None
) -> Path:
    """images/png/1024x768/<patient>/<image>.png, 16 bits."""
    for row in tables.metadata:
        path = folder / "images/png/1024x768" / row["empi_anon"] / f"{name_of(row)}.png"
        path.parent.mkdir(parents=True, exist_ok=True)
        Image.fromarray((draw or mammogram)(row)).save(path)
    return folder


def write_dicom(folder: Path, tables: Tables, **attributes: object) -> Path:
    """images/cohort_1/<patient>/<study>/<series>/<image>.dcm, 12 bits; every 5th is burned in."""
    for place, row in enumerate(tables.metadata):
        path = folder / "images" / row["anon_dicom_path"].removeprefix(f"{ROOT}/")
        flag = {"BurnedInAnnotation": "YES" if place % 5 == 0 else "NO"}
        own = {"PatientID": row["empi_anon"], "SOPInstanceUID": name_of(row)}
        pixels = mammogram(row) >> 4
        write(path, dataset(pixels, BitsStored=12, **own, **flag, **attributes))
    return folder


def mammogram(row: Row, height: int = 64, width: int = 48) -> np.ndarray:
    """A half disc at the chest wall and a letter beside it, 16 bits."""
    y, x = np.mgrid[:height, :width]
    if row["ImageLateralityFinal"] == "R":
        x = width - 1 - x
    radius = np.hypot((y - height / 2) / (0.45 * height), x / (0.7 * width))
    number = int(name_of(row).rsplit(".", 1)[1]) % 251
    breast = np.where(radius < 1, 20_000 + 100 * number + 8_000 * (1 - radius), 0)
    breast[4:8, -10:-4] = np.where(x[4:8, -10:-4] > width / 2, 60_000, breast[4:8, -10:-4])
    return breast.astype(np.uint16)
