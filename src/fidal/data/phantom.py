"""phantom: a federation of four drawn dermatology clinics, for demos, tests and first tries.

Nothing is fetched: images are drawn (`drawing/`), coverage comes from wavelet scattering, and the
prompts from reference drawings. Drawings teach nothing about skin; the names of the classes are
those of dermoscopic patterns, for want of better words.

Image i of a site depends only on (seed, site, split, i): a larger benchmark begins with the images
of a smaller one. What an image shows follows a golden-ratio sequence, so that in any number of
images every class and every kind of artefact has its share, give or take two or three images.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar, Final

import numpy as np
from pydantic import Field

from fidal.data.benchmark import TEST, TRAIN, Benchmark, Manifest, Source
from fidal.data.covered import AnyEncoder
from fidal.data.drawing.clinics import CLINICS, Clinic
from fidal.data.drawing.gallery import Commission, gallery
from fidal.data.drawing.lesions import CLASSES
from fidal.data.drawing.prompts import prompt_scores
from fidal.encoders.cache import embed
from fidal.encoders.scattering import Scattering
from fidal.seeds import numpy_generator
from fidal.types import OUTLIER

GOLDEN: Final = (5**0.5 - 1) / 2


@dataclass(frozen=True)
class Entry:
    """One row of the manifest, and how its image is drawn."""

    name: str
    site: str
    split: str
    commission: Commission


class Phantom(Source):
    """Four drawn clinics, eight unbalanced classes, six kinds of artefacts in the pools."""

    name: ClassVar[str] = "phantom"
    train_per_site: int = Field(default=600, ge=1, description="images in each site's pool")
    test_per_site: int = Field(default=250, ge=1, description="images in each site's test set")
    ood_share: float | None = Field(
        default=None,
        ge=0,
        lt=1,
        description="share of outliers in every pool; each site's own, 25 to 45 %, if unset",
    )
    pixels: int = Field(default=64, ge=32, multiple_of=16, description="width and height")
    seed: int = Field(default=0, ge=0, description="another one gives other images")
    encoder: AnyEncoder = Field(default=Scattering(), description="of the coverage features g(x)")

    def load(self, cache: Path) -> Benchmark:
        """Draw and encode, or find both below `cache`."""
        entries = self.entries()
        manifest = manifest_of(entries)
        images = gallery([entry.commission for entry in entries], self.pixels, cache)
        coverage = embed(self.encoder, manifest.ids, images, cache)
        prompts = prompt_scores(self.encoder, coverage, self.pixels, cache)
        return Benchmark(self.name, manifest, images, coverage, prompts)

    def entries(self) -> list[Entry]:
        """What will be drawn, site by site, pool before test set. Test sets hold no outliers."""
        return [
            entry
            for site in CLINICS
            for split, n in ((TRAIN, self.train_per_site), (TEST, self.test_per_site))
            for entry in self._entries(site, split, n)
        ]

    def _entries(self, site: str, split: str, n: int) -> Iterator[Entry]:
        clinic = CLINICS[site]
        shares = self._pool_shares(clinic) if split == TRAIN else _test_shares(clinic)
        subjects, bounds = list(shares), np.cumsum(list(shares.values()))
        place = (self.seed, site, split)
        start = numpy_generator("phantom", *place).random()
        for i in range(n):
            position = (start + i * GOLDEN) % 1 * bounds[-1]
            subject = subjects[int(np.searchsorted(bounds, position, side="right"))]
            commission = Commission(subject, clinic.camera, (*place, i))
            yield Entry(f"{site}-{split}-{i:05d}", site, split, commission)

    def _pool_shares(self, clinic: Clinic) -> dict[str, float]:
        outliers = clinic.ood_share if self.ood_share is None else self.ood_share
        classes = {c: (1 - outliers) * s for c, s in zip(CLASSES, clinic.classes, strict=True)}
        return classes | {kind: outliers * s for kind, s in clinic.artefacts.items()}


def _test_shares(clinic: Clinic) -> dict[str, float]:
    """Square roots of the clinic's own, so that the recall of a rare class can be measured."""
    return {c: s**0.5 for c, s in zip(CLASSES, clinic.classes, strict=True)}


def manifest_of(entries: list[Entry]) -> Manifest:
    """The rows of a benchmark; the column `kind` names an outlier's, and says "id" of the rest."""
    subjects = [entry.commission.subject for entry in entries]
    labels = [CLASSES.index(s) if s in CLASSES else OUTLIER for s in subjects]
    return Manifest(
        classes=CLASSES,
        ids=tuple(entry.name for entry in entries),
        site=np.array([entry.site for entry in entries]),
        split=np.array([entry.split for entry in entries]),
        label=np.array(labels, dtype=np.int64),
        columns={"kind": np.array(["id" if s in CLASSES else s for s in subjects])},
    )
