"""A manifest on disk: one row per image of the federation, as CSV or Parquet.

Columns: `image` (path below the image root), `site`, `split` ("train" or "test"), `label` (a class,
"ood" for a known outlier, or empty where nobody has looked yet); optional `id` (the image path by
default) and `group` or `patient`. Any other column is kept as it is.
"""

import csv
import io
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from fidal.data.benchmark import DataAbsent, Manifest
from fidal.data.manifest_checks import (
    OOD,
    REQUIRED,
    check_classes,
    check_groups,
    check_labels,
    check_rows,
    check_sites,
)
from fidal.data.table import check_present, find_pyarrow, is_parquet, read_table
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
    if not path.is_file():
        raise DataAbsent(
            f"no manifest at {path.absolute()}: a CSV or Parquet file with one row per image and "
            "the columns image, site, split, label"
        )
    table = read_table(path)
    check_present(table, REQUIRED)
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
    if is_parquet(path):
        pyarrow = find_pyarrow(path)
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
        since=None if manifest.since is None else manifest.since[rows],
        group=None if manifest.group is None else manifest.group[rows],
        columns={name: values[rows] for name, values in manifest.columns.items()},
    )


def side_by_side(manifest: Manifest) -> NDArray[np.int64]:
    """Rows site by site, in the order of ids: so a site's pixels are one piece of a file and stay
    on the disk until they are looked at.
    """
    place = {site: number for number, site in enumerate(manifest.sites)}
    keys = [(place[site], name) for site, name in zip(manifest.site, manifest.ids, strict=True)]
    return np.array(sorted(range(len(keys)), key=keys.__getitem__), dtype=np.int64)
