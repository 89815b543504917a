"""FedCamelyon: lymph node patches of five hospitals, with slide artefacts as outliers."""

from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import ClassVar

from pydantic import Field

from fidal.data.benchmark import TEST, TRAIN
from fidal.data.preparing.collected import Collected, Collector, Count
from fidal.data.preparing.entries import Entry, manifest_of
from fidal.data.preparing.fedcamelyon.artefacts import OOD, artefacts
from fidal.data.preparing.fedcamelyon.patch import Patch
from fidal.data.preparing.fedcamelyon.patches import (
    CLASSES,
    ID_TRAIN,
    SITES,
    choose,
    entries_of,
    read_patches,
)
from fidal.data.preparing.originals import Originals


class FedCamelyonCollector(Collector):
    """Five hospitals of Camelyon17 as WILDS has cut it; HistoArtifacts at 40x as OOD."""

    name: ClassVar[str] = "fedcamelyon"
    seed: int = Field(
        default=0, ge=0, description="which patients train, and which patches and artefacts"
    )

    def collect(self, folders: Sequence[Path]) -> Collected:
        """Patches by patient and rate, then artefacts by Table S1."""
        originals = Originals(folders)
        patches = read_patches(originals)
        images, missing = entries_of(patches, choose(patches, self.seed), originals)
        entries = [*images, *artefacts(originals, self.seed)]
        return Collected(
            manifest=manifest_of(entries, CLASSES, originals),
            files=tuple(entry.path for entry in entries),
            render=Patch(),
            counts=_counts(entries),
            missing=tuple(missing),
        )


def _counts(entries: Sequence[Entry]) -> tuple[Count, ...]:
    found = Counter((entry.site, entry.split, entry.kind) for entry in entries)
    return (
        *(Count("ID training images", s, n, found[s, TRAIN, "id"]) for s, n in ID_TRAIN.items()),
        *(Count("ID test images", s, None, found[s, TEST, "id"]) for s in SITES),
        *(
            Count(f"OOD: {kind}", site, n, found[site, TRAIN, kind])
            for kind, numbers in OOD.items()
            for site, n in zip(SITES, numbers, strict=True)
        ),
    )
