"""Which patches of Camelyon17 (as WILDS has cut them) train and test FedCamelyon.

The paper states a patient-level 8:2 split, and ID counts that are 12.8 % of every centre. So four
of five patients of a centre are for training, and from their patches the stated count is drawn,
tumour and normal tissue in their proportion; the other patients' patches are for testing, thinned
at the same rate. Which patients and patches the paper has is not published; here they follow from
a seed.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from fidal.data.benchmark import TEST, TRAIN
from fidal.data.injection import cut, random_order
from fidal.data.preparing.entries import Entry
from fidal.data.preparing.originals import Originals
from fidal.data.table import check_present, refuse, repeated

CLASSES: Final = ("normal", "tumour")
SITES: Final = tuple(f"centre_{number}" for number in range(5))
"""WILDS numbers the centres from 0: client 1 of the paper is centre 0."""
ID_TRAIN: Final = dict(zip(SITES, (7_606, 4_465, 10_884, 16_616, 18_777), strict=True))
COLUMNS: Final = ("patient", "node", "x_coord", "y_coord", "tumor", "center")


@dataclass(frozen=True, eq=False)
class Patches:
    """All patches of the metadata."""

    names: tuple[str, ...]
    site: NDArray[np.str_]
    patient: NDArray[np.str_]
    label: NDArray[np.int64]


def read_patches(originals: Originals) -> Patches:
    """WILDS' metadata.csv, checked row by row."""
    table = originals.table("metadata.csv", COLUMNS, "Camelyon17-WILDS")
    check_present(table, ())
    patients = [patient.zfill(3) for patient in table.columns["patient"]]
    nodes, x, y, tumour, centre = (table.columns[name] for name in COLUMNS[1:])
    names = [
        f"patch_patient_{who}_node_{node}_x_{across}_y_{down}.png"
        for who, node, across, down in zip(patients, nodes, x, y, strict=True)
    ]
    refuse(table, "x_coord", repeated(names), "is of a patch that stands in an earlier row too")
    refuse(table, "tumor", [cell not in ("0", "1") for cell in tumour], "is no class", ("0", "1"))
    known = [str(number) for number in range(len(SITES))]
    refuse(table, "center", [cell not in known for cell in centre], "is unknown", known)
    home: dict[str, str] = {}
    away = [home.setdefault(who, c) != c for who, c in zip(patients, centre, strict=True)]
    refuse(table, "patient", away, "is at another centre in an earlier row")
    return Patches(
        names=tuple(names),
        site=np.array([SITES[int(cell)] for cell in centre]),
        patient=np.array(patients),
        label=np.array(tumour, dtype=np.int64),
    )


def choose(patches: Patches, seed: int) -> dict[str, NDArray[np.int64]]:
    """The rows of the training pools and of the test sets."""
    chosen: dict[str, list[NDArray[np.int64]]] = {TRAIN: [], TEST: []}
    for site, wanted in ID_TRAIN.items():
        here = np.flatnonzero(patches.site == site)
        learners = _four_of_five(patches.patient[here].tolist(), seed)
        learns = np.isin(patches.patient[here], learners)
        pool, others = here[learns], here[~learns]
        n = min(wanted, len(pool))
        spared = round(len(others) * n / max(1, len(pool)))
        for split, rows, total in ((TRAIN, pool, n), (TEST, others, spared)):
            chosen[split].append(cut(rows, total, (patches.label,), patches.names, seed))
    return {split: np.concatenate(parts) for split, parts in chosen.items()}


def _four_of_five(patients: Sequence[str], seed: int) -> list[str]:
    """Training patients, to the nearest whole one; a single patient is for training."""
    every = sorted(set(patients))
    order = [every[i] for i in random_order(every, seed)]
    return order[: max(1, min(len(order) - 1, round(0.8 * len(order))))]


def entries_of(
    patches: Patches, chosen: Mapping[str, NDArray[np.int64]], originals: Originals
) -> tuple[list[Entry], list[str]]:
    """The chosen patches that are there, and the names of those that are not."""
    entries, missing = [], []
    for split, rows in chosen.items():
        for row in rows.tolist():
            path = originals.find(patches.names[row])
            if path is None:
                missing.append(patches.names[row])
                continue
            patient = f"patient_{patches.patient[row]}"
            site, label = str(patches.site[row]), int(patches.label[row])
            entries.append(Entry(path, site, split, label, group=patient))
    return entries, missing
