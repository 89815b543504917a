"""FedISIC: ISIC 2019 in FLamby's split, with clinical photographs as outliers."""

from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import ClassVar, Final, Literal

from pydantic import Field

from fidal.data.benchmark import TEST, TRAIN
from fidal.data.preparing.collected import Collected, Collector, Count
from fidal.data.preparing.entries import Entry, manifest_of
from fidal.data.preparing.fedisic.dermoscopy import Dermoscopy, Overflow
from fidal.data.preparing.fedisic.outliers import DDI, FITZPATRICK, OOD, drawn, listed
from fidal.data.preparing.fedisic.split import CLASSES, SITES, Row, read_split
from fidal.data.preparing.originals import Originals
from fidal.types import OUTLIER

ID_TRAIN: Final = dict(zip(SITES, (9_930, 3_163, 2_691, 1_807), strict=True))
ID_TEST: Final = dict(zip(SITES, (2_483, 791, 672, 452), strict=True))
"""Section 4.1; the test folds are FLamby's, and hold no outliers."""


class FedIsicCollector(Collector):
    """Four dermoscopy clinics of ISIC 2019 in FLamby's split; DDI and Fitzpatrick17k as OOD."""

    name: ClassVar[str] = "fedisic"
    split: Path = Field(description="FLamby's `train_test_split`, or the open-set CSV")
    outliers: Literal["drawn", "listed"] = Field(
        default="drawn",
        description="drawn from DDI and Fitzpatrick17k in the paper's numbers, or the .npy files "
        "that an open-set split lists",
    )
    overflow: Overflow = Field(
        default="clip",
        description="what colour constancy does above 255; FLamby's cast to bytes is `wrap`",
    )
    seed: int = Field(default=0, ge=0, description="which photographs are drawn, and for whom")

    def collect(self, folders: Sequence[Path]) -> Collected:
        """Dermoscopy images by the split, then the outliers."""
        rows = read_split(self.split)
        named = [row for row in rows if row.label == OUTLIER]
        if self.outliers == "listed" and not named:
            raise ValueError(f"outliers: {self.split} lists none (target 8); draw them instead")
        originals = Originals(folders)
        images, missing = _dermoscopy([row for row in rows if row.label != OUTLIER], originals)
        photos, absent = (
            drawn(originals, self.seed) if self.outliers == "drawn" else listed(named, originals)
        )
        entries = [*images, *photos]
        return Collected(
            manifest=manifest_of(entries, CLASSES, originals),
            files=tuple(entry.path for entry in entries),
            render=Dermoscopy(self.overflow),
            counts=_counts(entries, self.outliers == "drawn"),
            missing=(*missing, *absent),
        )


def _dermoscopy(rows: Sequence[Row], originals: Originals) -> tuple[list[Entry], list[str]]:
    entries, missing = [], []
    for row in rows:
        path = originals.find(f"{row.image}.jpg", f"{row.image}.npy")
        if path is None:
            missing.append(f"{row.image}.jpg")
        else:
            diagnosis = {"diagnosis": CLASSES[row.label]}
            entries.append(Entry(path, row.site, row.split, row.label, notes=diagnosis))
    return entries, missing


def _counts(entries: Sequence[Entry], drawn: bool) -> tuple[Count, ...]:
    found = Counter((entry.site, entry.split, entry.kind == "id") for entry in entries)
    kinds = Counter(entry.kind for entry in entries)
    per_kind = {"ddi": DDI, "fitzpatrick17k": FITZPATRICK} if drawn else {}
    return (
        *(Count("ID training images", s, n, found[s, TRAIN, True]) for s, n in ID_TRAIN.items()),
        *(Count("ID test images", s, n, found[s, TEST, True]) for s, n in ID_TEST.items()),
        *(Count("OOD training images", s, n, found[s, TRAIN, False]) for s, n in OOD.items()),
        *(Count(f"OOD: {kind}", "all sites", n, kinds[kind]) for kind, n in per_kind.items()),
    )
