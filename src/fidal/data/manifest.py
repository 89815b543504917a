"""A manifest on disk: one row per image of the federation, as CSV or Parquet.

Columns: `image` (path below the image root), `site`, `split` ("train" or "test"), `label` (a class,
"ood" for a known outlier, or empty where nobody has looked yet); optional `id` (the image path by
default) and `group` or `patient`. Any other column is kept as it is.
"""

import csv
import importlib
import io
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from types import ModuleType

import numpy as np
from numpy.typing import NDArray

from fidal.data.benchmark import DataAbsent, Manifest
from fidal.data.manifest_checks import (
    OOD,
    Table,
    check_classes,
    check_columns,
    check_groups,
    check_labels,
    check_rows,
    check_sites,
)
from fidal.storage import write_atomic
from fidal.types import OUTLIER, UNLABELLED

_OWN = ("id", "site", "split", "label", "group")
"""Columns that are fields of `Manifest` and so not in `Manifest.columns`."""


def read_manifest(
    path: Path, classes: Sequence[str] = (), *, allow_shared_groups: bool = False
) -> Manifest:
    """The manifest in a .csv or .parquet file, checked row by row.

    `classes` gives the class order; empty, they are the labels found, sorted as text.
    `allow_shared_groups` lets a patient stand in both train and test.
    """
    table = _read_table(path)
    check_columns(table)
    check_rows(table)
    columns = table.columns
    known = tuple(classes) or tuple(sorted(set(columns["label"]) - {"", OOD}))
    check_classes(path, known)
    check_labels(table, known)
    index = {name: row for row, name in enumerate(known)} | {OOD: OUTLIER, "": UNLABELLED}
    group = columns.get("group", columns.get("patient"))
    manifest = Manifest(
        classes=known,
        ids=tuple(columns.get("id", columns["image"])),
        site=np.array(columns["site"]),
        split=np.array(columns["split"]),
        label=np.array([index[word] for word in columns["label"]], dtype=np.int64),
        group=None if group is None else np.array(group),
        columns={k: np.array(v) for k, v in columns.items() if k not in _OWN},
    )
    check_sites(manifest, path)
    if not allow_shared_groups:
        check_groups(manifest, path)
    return manifest


def write_manifest(manifest: Manifest, path: Path) -> None:
    """Write a .csv or .parquet file that `read_manifest` turns into an equal manifest."""
    words = (*manifest.classes, "", OOD)  # UNLABELLED and OUTLIER are -2 and -1: the last two
    columns = {
        "image": list(manifest.ids),
        "id": list(manifest.ids),
        "site": manifest.site.tolist(),
        "split": manifest.split.tolist(),
        "label": [words[label] for label in manifest.label],
    }
    if manifest.group is not None:
        columns["group"] = manifest.group.tolist()
    columns |= {name: values.tolist() for name, values in manifest.columns.items()}
    if _is_parquet(path):
        pyarrow = _pyarrow(path)
        binary = io.BytesIO()
        pyarrow.parquet.write_table(pyarrow.table(columns), binary)
        write_atomic(path, binary.getvalue())
    else:
        text = io.StringIO(newline="")
        csv.writer(text).writerows([columns, *zip(*columns.values(), strict=True)])
        write_atomic(path, text.getvalue().encode())


def take(manifest: Manifest, rows: NDArray[np.int64]) -> Manifest:
    """The manifest of these rows, in their order."""
    return replace(
        manifest,
        ids=tuple(manifest.ids[row] for row in rows),
        site=manifest.site[rows],
        split=manifest.split[rows],
        label=manifest.label[rows],
        group=None if manifest.group is None else manifest.group[rows],
        columns={name: values[rows] for name, values in manifest.columns.items()},
    )


def _read_table(path: Path) -> Table:
    if not path.is_file():
        raise DataAbsent(
            f"no manifest at {path.absolute()}: a CSV or Parquet file with one row per image and "
            "the columns image, site, split, label"
        )
    return _read_parquet(path) if _is_parquet(path) else _read_csv(path)


def _read_csv(path: Path) -> Table:
    try:
        with path.open(newline="", encoding="utf-8-sig") as file:  # Excel begins with a mark
            header = file.readline()
            file.seek(0)
            reader = csv.reader(file, delimiter=max(",;\t", key=header.count), strict=True)
            lines = [(reader.line_num, row) for row in reader if row]
    except UnicodeDecodeError as error:
        raise ValueError(f"{path}: byte {error.start} is not UTF-8; save it as UTF-8") from None
    except csv.Error as error:
        raise ValueError(f"{path}: not a readable CSV file: {error}") from None
    if not lines:
        raise ValueError(f"{path}: the file is empty")
    names = [cell.strip() for cell in lines[0][1]]
    for line, row in lines[1:]:
        if len(row) != len(names):
            raise ValueError(f"{path}, row {line}: {len(row)} cells for {len(names)} columns")
    doubled = {name for name in names if names.count(name) > 1}
    if doubled:
        raise ValueError(f"{path}: column '{min(doubled)}' appears more than once")
    cells = [[cell.strip() for cell in row] for _, row in lines[1:]]
    columns = {name: [row[i] for row in cells] for i, name in enumerate(names)}
    return Table(path, columns, tuple(line for line, _ in lines[1:]))


def _read_parquet(path: Path) -> Table:
    pyarrow = _pyarrow(path)
    try:
        read = pyarrow.parquet.read_table(path)
    except pyarrow.ArrowException as error:
        raise ValueError(f"{path}: not a readable Parquet file: {error}") from None
    columns = {
        name: ["" if cell is None else str(cell).strip() for cell in read[name].to_pylist()]
        for name in read.column_names
    }
    return Table(path, columns, tuple(range(1, read.num_rows + 1)))


def _is_parquet(path: Path) -> bool:
    return path.suffix.lower() in (".parquet", ".pq")


def _pyarrow(path: Path) -> ModuleType:
    try:
        importlib.import_module("pyarrow.parquet")
        return importlib.import_module("pyarrow")
    except ImportError:
        raise ValueError(
            f"{path}: Parquet needs pyarrow, which is not installed; install 'fidal[parquet]' or "
            "save the manifest as CSV"
        ) from None
