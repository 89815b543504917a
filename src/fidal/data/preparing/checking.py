"""What is wrong with a prepared folder, as far as it can be seen from the folder alone."""

import os
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import numpy as np
from numpy.typing import NDArray

from fidal.data.benchmark import TRAIN, Manifest
from fidal.data.pixel_file import digest
from fidal.data.pixels import Told
from fidal.data.prepared import read_prepared
from fidal.data.preparing.counts import differing, in_words
from fidal.data.preparing.record import MANIFEST, PIXELS, Record, manifest_digest, read_record

BATCH: Final = 256
"""Images between two words on the progress."""


@dataclass(frozen=True)
class Findings:
    """Problems make the folder unfit; notes were accepted when it was prepared."""

    record: Record
    tally: tuple[tuple[str, int, int, int], ...]
    """Site, and its ID training, OOD training and test images."""
    problems: tuple[str, ...]
    notes: tuple[str, ...]


def check(root: Path, told: Told = lambda done, n: None) -> Findings:
    """Read everything once: record, manifest, every pixel.

    What makes the folder unreadable as a whole is raised: no record, a manifest that breaks the
    rules of manifests (ids, labels, patients on both sides), a pixel file of another shape.
    """
    record = read_record(root)
    manifest, pixels = read_prepared(root, record)
    problems = []
    if manifest_digest(root) != record.manifest:
        problems.append(f"{MANIFEST} is not as it was written; put back a copy of it")
    if "pixels" in manifest.columns:
        problems += _damaged(manifest, pixels, told)
    else:
        problems.append(f"{MANIFEST} has no column 'pixels' any more: nothing to compare with")
    notes = [in_words(count) for count in differing(record.counts)]
    notes += [f"left out: {each.image}, {each.site} ({each.why})" for each in record.quarantined]
    return Findings(record, _tally(manifest), tuple(problems), tuple(notes))


def _damaged(manifest: Manifest, pixels: NDArray[np.uint8], told: Told) -> list[str]:
    names, digests = manifest.columns["image"], manifest.columns["pixels"].tolist()
    wrong, flat = [], []
    for row, (found, even) in enumerate(_looked_at(pixels)):
        if found != digests[row]:
            wrong.append(str(names[row]))
        elif even:
            flat.append(str(names[row]))
        if (row + 1) % BATCH == 0 or row + 1 == len(pixels):
            told(row + 1, len(pixels))
    return [
        f"{PIXELS}: {len(images)} images {what}, first {', '.join(images[:3])}; {way_out}"
        for images, what, way_out in (
            (wrong, "are not as they were written", "prepare the benchmark again"),
            (flat, "have one value only", "look at their originals"),
        )
        if images
    ]


def _looked_at(pixels: NDArray[np.uint8]) -> Iterator[tuple[str, bool]]:
    """Digest of each image, and whether all its pixels are equal."""

    def look(row: int) -> tuple[str, bool]:
        image = np.asarray(pixels[row])
        return digest(image), bool((image == image.flat[0]).all())

    with ThreadPoolExecutor(os.cpu_count()) as pool:
        for start in range(0, len(pixels), BATCH):
            yield from pool.map(look, range(start, min(start + BATCH, len(pixels))))


def _tally(manifest: Manifest) -> tuple[tuple[str, int, int, int], ...]:
    train, known = manifest.split == TRAIN, manifest.label >= 0
    return tuple(
        (
            site,
            int((here & train & known).sum()),
            int((here & train & ~known).sum()),
            int((here & ~train).sum()),
        )
        for site in manifest.sites
        for here in [manifest.site == site]
    )
