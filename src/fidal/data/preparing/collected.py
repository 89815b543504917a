"""What is known of a benchmark's originals before any pixel is read."""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from fidal.data.benchmark import Manifest
from fidal.data.render import Render
from fidal.parts import Part


@dataclass(frozen=True)
class Count:
    """One number of images to be compared with the paper's."""

    what: str
    """ "ID training images", "OOD: blood", ..."""
    site: str
    expected: int | None
    """The paper's number; None where it has none, and the number is only reported."""
    found: int


@dataclass(frozen=True, eq=False)
class Collected:
    """The images of a benchmark that are there, and what should be."""

    manifest: Manifest
    """One row per image whose file is there. `columns` has "image" (the path below the folder that
    was given; the id, where paths name patients), "kind" ("id", or the type of an outlier), and
    whatever else is known. With a `group` no patient may stand on both sides of the split."""
    files: tuple[Path, ...]
    """The file of each row."""
    render: Render[Path]
    counts: tuple[Count, ...]
    missing: tuple[str, ...]
    """Files that the metadata names and that are not there; ids, where paths name patients."""


class Collector(Part, ABC):
    """How a benchmark is put together from its downloads; its choices are fields."""

    @abstractmethod
    def collect(self, folders: Sequence[Path]) -> Collected:
        """Read the metadata below `folders` and find the files. No pixel is read."""
