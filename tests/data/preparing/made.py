"""A collected benchmark of six small images at two sites."""

from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from fidal.data.preparing.collected import Collected, Collector, Count
from fidal.data.preparing.entries import Entry, manifest_of
from fidal.data.preparing.originals import Originals
from fidal.types import OUTLIER

SEEN: list[str] = []
"""What was rendered."""


@dataclass(frozen=True)
class Gray:
    """Grayscale as it is."""

    identity: str = "gray 1"
    shape: tuple[int, int, int] = (4, 6, 1)

    def __call__(self, origin: Path) -> NDArray[np.uint8]:
        SEEN.append(origin.name)
        with Image.open(origin) as image:
            return np.asarray(image)[..., None]


class Made(Collector):
    """Six images."""

    name: ClassVar[str] = "fedisic"

    def collect(self, folders: list[Path]) -> Collected:
        originals = Originals(folders)
        entries = [
            Entry(path, site, split, label, kind, group, {"note": f"about {name}"})
            for name, site, split, label, kind, group in (
                ("e.png", "west", "train", OUTLIER, "blur", ""),
                ("a.png", "east", "train", 0, "id", "p1"),
                ("b.png", "east", "train", 1, "id", "p2"),
                ("c.png", "east", "test", 1, "id", "p3"),
                ("d.png", "west", "train", 0, "id", "p4"),
                ("f.png", "west", "test", 0, "id", "p5"),
            )
            if (path := originals.find(name))
        ]
        counts = (Count("images", "east", 3, sum(entry.site == "east" for entry in entries)),)
        missing = tuple(name for name in ("a.png", "f.png") if originals.find(name) is None)
        manifest = manifest_of(entries, ("dense", "fatty"), originals)
        return Collected(manifest, tuple(e.path for e in entries), Gray(), counts, missing)


def files(folder: Path) -> Path:
    """Six images in a folder of downloads."""
    rng = np.random.default_rng(0)
    (folder / "images").mkdir(parents=True)
    for name in "abcdef":
        pixels = rng.integers(0, 256, (4, 6), dtype=np.uint8)
        Image.fromarray(pixels).save(folder / "images" / f"{name}.png")
    return folder


def pixels_of(path: Path) -> NDArray[np.uint8]:
    """As they should be kept."""
    with Image.open(path) as image:
        return np.asarray(image)[..., None]
