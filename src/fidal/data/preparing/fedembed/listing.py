"""The manifest of FedEMBED: pseudonyms, and what a run and a report may know of an image."""

import itertools
import logging
import os
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from fidal.data.benchmark import TEST, TRAIN, Manifest
from fidal.data.dicom import read_burned_in
from fidal.data.preparing.fedembed.clinical import CLASSES
from fidal.data.preparing.fedembed.files import Located
from fidal.data.preparing.fedembed.labels import Labelled
from fidal.data.preparing.fedembed.paper import SITES
from fidal.data.pseudonyms import Pseudonyms
from fidal.types import OUTLIER

log = logging.getLogger(__name__)


@dataclass(frozen=True, eq=False)
class Listed:
    """The images that are there."""

    manifest: Manifest
    files: tuple[Path, ...]
    present: tuple[Labelled, ...]
    """All whose files are there, those that no row of the manifest is about too."""
    missing: tuple[str, ...]
    """Pseudonyms of the others. Their names are told to the person who runs this, and not handed
    on: a prepared folder holds no number of a patient."""


@dataclass(frozen=True, slots=True)
class _Row:
    id: str
    patient: str
    labelled: Labelled
    file: Path


def list_images(
    labelled: Sequence[Labelled], located: Located, pseudonyms: Pseudonyms, *, pool: bool
) -> Listed:
    """Site by site, in the order of ids. An outlier of a test patient is in training or, without
    `pool`, nowhere."""
    ids = [pseudonyms.of("image", image.mammogram.name) for image in labelled]
    absent = [row for row, file in enumerate(located.files) if file is None]
    if absent:
        first = (labelled[row].mammogram for row in absent[:5])
        names = ", ".join(f"{image.name} of patient {image.patient}" for image in first)
        more = ", ..." if len(absent) > 5 else ""
        log.warning("%d images of the tables have no file: %s%s", len(absent), names, more)
    rows = [
        _Row(id, pseudonyms.of("patient", image.mammogram.patient), image, file)
        for id, image, file in zip(ids, labelled, located.files, strict=True)
        if file is not None and (pool or image.side == "train" or image.artefact is None)
    ]
    rows.sort(key=lambda row: (SITES.index(row.labelled.site), row.id))
    files = tuple(row.file for row in rows)
    flags = _burned_in(files) if located.format == "dicom" else ["unknown"] * len(files)
    there = (file is not None for file in located.files)
    return Listed(
        _manifest(rows, flags),
        files,
        tuple(itertools.compress(labelled, there)),
        tuple(ids[row] for row in absent),
    )


def _burned_in(files: Sequence[Path]) -> list[str]:
    """What the headers say; a few hundred bytes of each file are read, so many at once."""
    with ThreadPoolExecutor(4 * (os.cpu_count() or 1)) as threads:
        return list(threads.map(read_burned_in, files, chunksize=64))


def _manifest(rows: Sequence[_Row], burned_in: Sequence[str]) -> Manifest:
    """A pooled outlier of a test patient has no group: it shares its patient with the test, and is
    never trained on as one of the classes."""
    images = [row.labelled for row in rows]
    train = [image.side == "train" or image.artefact is not None for image in images]
    pooled = [image.side == "test" and image.artefact is not None for image in images]
    densities = [image.mammogram.density for image in images]
    return Manifest(
        classes=CLASSES,
        ids=tuple(row.id for row in rows),
        site=np.array([image.site for image in images]),
        split=np.where(train, TRAIN, TEST),
        label=np.where([image.artefact is None for image in images], densities, OUTLIER),
        group=np.array(
            ["" if alone else row.patient for row, alone in zip(rows, pooled, strict=True)]
        ),
        columns={
            "image": np.array([row.id for row in rows]),
            "kind": np.array([image.artefact or "id" for image in images]),
            "artefacts": np.array(["+".join(sorted(image.shown)) for image in images]),
            "annotator": np.array([image.annotator for image in images]),
            "base_split": np.array([image.side for image in images]),
            "burned_in": np.array(burned_in),
        },
    )
