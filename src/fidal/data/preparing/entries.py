"""Images, one by one, and the manifest that they make."""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from fidal.data.benchmark import Manifest
from fidal.data.preparing.originals import Originals


@dataclass(frozen=True)
class Entry:
    """An image whose file is there."""

    path: Path
    site: str
    split: str
    label: int
    """A class, or OUTLIER."""
    kind: str = "id"
    group: str = ""
    """The patient, where that is known."""
    notes: dict[str, str] = field(default_factory=dict)
    """Further columns of the manifest; an entry without one has an empty cell."""


def manifest_of(entries: Sequence[Entry], classes: Sequence[str], originals: Originals) -> Manifest:
    """One row per entry. The file's name makes the id, its place below `originals` is kept."""
    notes = dict.fromkeys(name for entry in entries for name in entry.notes)
    columns = {
        "image": [originals.below(entry.path) for entry in entries],
        "kind": [entry.kind for entry in entries],
    } | {name: [entry.notes.get(name, "") for entry in entries] for name in notes}
    groups = [entry.group for entry in entries]
    return Manifest(
        classes=tuple(classes),
        ids=tuple(neutral(entry.path.stem) for entry in entries),
        site=np.array([entry.site for entry in entries], dtype=str),
        split=np.array([entry.split for entry in entries], dtype=str),
        label=np.array([entry.label for entry in entries], dtype=np.int64),
        group=np.array(groups) if any(groups) else None,
        columns={name: np.array(cells, dtype=str) for name, cells in columns.items()},
    )


def neutral(name: str) -> str:
    """An id that does not tell where an image comes from: strategies break ties in the order of
    ids, and the names of outliers would stand together."""
    return hashlib.blake2b(name.encode(), digest_size=8).hexdigest()
