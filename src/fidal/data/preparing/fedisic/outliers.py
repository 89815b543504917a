"""The outliers of FedISIC: clinical photographs, all of DDI and a part of Fitzpatrick17k.

Which photographs the paper gave to which client is not published. `listed` takes the open-set
split file at its word: its outliers are numbers of .npy files whose origin only their maker knows.
`drawn` makes an assignment of its own with the same counts, from the data sets themselves.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Final

from fidal.data.benchmark import TRAIN
from fidal.data.injection import apportion, deal, random_order
from fidal.data.preparing.entries import Entry
from fidal.data.preparing.fedisic.split import SITES, Row
from fidal.data.preparing.originals import Originals
from fidal.data.table import refuse, repeated
from fidal.types import OUTLIER

OOD: Final = dict(zip(SITES, (6_280, 2_000, 1_701, 1_143), strict=True))
"""Outliers in each site's training pool."""
DDI: Final = 656
FITZPATRICK: Final = sum(OOD.values()) - DDI
"""10,468 of 16,577."""

Found = tuple[list[Entry], list[str]]
"""Images that are there, and the names of files that are not."""


@dataclass(frozen=True)
class Photo:
    """A clinical photograph by its metadata."""

    names: tuple[str, ...]
    """What its file may be called."""
    kind: str
    diagnosis: str
    skin_tone: str


def listed(rows: Sequence[Row], originals: Originals) -> Found:
    """The outliers that the split file names."""
    entries, missing = [], []
    for row in rows:
        path = originals.find(f"{row.image}.npy")
        if path is None:
            missing.append(f"{row.image}.npy")
        else:
            entries.append(Entry(path, row.site, row.split, OUTLIER, "clinical"))
    return entries, missing


def drawn(originals: Originals, seed: int) -> Found:
    """All of DDI and 10,468 of Fitzpatrick17k, dealt to the sites in the paper's numbers.

    The order depends on `seed` and the images' names alone. Photographs of Fitzpatrick17k that are
    not there (its links die) are passed over: the next ones in that order take their places.
    """
    ddi, no_ddi = _first(_ddi(originals), DDI, originals, seed)
    fitzpatrick, no_fitzpatrick = _first(_fitzpatrick(originals), FITZPATRICK, originals, seed)
    quotas = dict(zip(OOD, apportion(DDI, list(OOD.values())), strict=True))
    rest = {site: n - quotas[site] for site, n in OOD.items()}
    return [*_deal(ddi, quotas), *_deal(fitzpatrick, rest)], [*no_ddi, *no_fitzpatrick]


def _ddi(originals: Originals) -> list[Photo]:
    columns = ("DDI_file", "skin_tone", "disease")
    table = originals.table("ddi_metadata.csv", columns, "DDI (Diverse Dermatology Images)")
    refuse(table, "DDI_file", repeated(table.columns["DDI_file"]), "stands in an earlier row too")
    rows = zip(*(table.columns[name] for name in columns), strict=True)
    return [Photo((file,), "ddi", disease, tone) for file, tone, disease in rows]


def _fitzpatrick(originals: Originals) -> list[Photo]:
    columns = ("md5hash", "fitzpatrick_scale", "label")
    table = originals.table("fitzpatrick17k.csv", columns, "Fitzpatrick17k")
    refuse(table, "md5hash", repeated(table.columns["md5hash"]), "stands in an earlier row too")
    rows = zip(*(table.columns[name] for name in columns), strict=True)
    return [
        Photo((f"{key}.jpg", f"{key}.jpeg", f"{key}.png"), "fitzpatrick17k", label, tone)
        for key, tone, label in rows
    ]


def _first(
    photos: Sequence[Photo], n: int, originals: Originals, seed: int
) -> tuple[list[tuple[Photo, Path]], list[str]]:
    """The first n in random order that are there; of the first n, those that are not."""
    order = [photos[i] for i in random_order((photo.names[0] for photo in photos), seed)]
    places = [(photo, originals.find(*photo.names)) for photo in order]
    missing = [photo.names[0] for photo, path in places[:n] if path is None]
    there = ((photo, path) for photo, path in places if path is not None)
    return list(islice(there, n)), missing


def _deal(photos: Sequence[tuple[Photo, Path]], quotas: Mapping[str, int]) -> list[Entry]:
    return [
        Entry(
            path,
            site,
            TRAIN,
            OUTLIER,
            photo.kind,
            notes={"diagnosis": photo.diagnosis, "skin_tone": photo.skin_tone},
        )
        for (photo, path), site in zip(photos, deal(len(photos), quotas), strict=True)
    ]
