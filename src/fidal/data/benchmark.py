"""What every benchmark is to the rest of the house: a manifest and arrays in its order."""

import os
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from fidal.parts import Part

TRAIN, TEST = "train", "test"


class DataAbsent(ValueError):  # noqa: N818  (it is the data that errs, by absence)
    """Files that a benchmark reads are not there: says which, where, what they are, what to do."""


def data_folder() -> Path:
    """Where the real data lies: $FIDAL_DATA, the one place where it is read."""
    return Path(os.environ.get("FIDAL_DATA") or "../shared/data")


@dataclass(frozen=True, eq=False)
class Manifest:
    """One row per image of the whole federation."""

    classes: tuple[str, ...]
    ids: tuple[str, ...]
    """Unique over the federation; they never change."""
    site: NDArray[np.str_]
    split: NDArray[np.str_]
    """TRAIN or TEST."""
    label: NDArray[np.int64]
    """A class 0..C-1, OUTLIER or UNLABELLED."""
    since: NDArray[np.int64] | None = None
    """Query round from which on an image is in its site's pool; None = all are, from the start."""
    group: NDArray[np.str_] | None = None
    """Patient or lesion: what must not stand on both sides of a split."""
    columns: Mapping[str, NDArray[np.str_]] = field(default_factory=dict)
    """Anything else that is known of an image, e.g. the kind of an outlier, sex, skin tone."""

    @property
    def sites(self) -> tuple[str, ...]:
        """The sites in the order of their first image."""
        return tuple(dict.fromkeys(self.site.tolist()))


@dataclass(frozen=True, eq=False)
class PromptScores:
    """Image-text similarities of a frozen vision-language encoder for every image, N x P."""

    logits: NDArray[np.float32]
    in_distribution: tuple[bool, ...]


@dataclass(frozen=True, eq=False)
class Benchmark:
    """A federation's data. Every array has one row per row of the manifest."""

    name: str
    manifest: Manifest
    inputs: NDArray[np.uint8] | NDArray[np.float32]
    """What the network sees: uint8 images N x H x W x 3 or x 1 (may be memory-mapped), or float32
    vectors N x d for a linear probe."""
    coverage: NDArray[np.float32] | None = None
    """g(x) of the frozen encoder, N x e."""
    prompts: PromptScores | None = None


class Source(Part, ABC):
    """Where a benchmark comes from: its parameters are fields, seen in TOML, CLI and docs."""

    @abstractmethod
    def load(self, cache: Path) -> Benchmark:
        """The benchmark; what is costly to make is kept below `cache` and found there again."""

    def bare(self) -> "Source":
        """The same images as images, without what encoders would compute from them."""
        return self

    def at_hand(self, cache: Path) -> Benchmark:
        """The images as images, with what encoders have computed from them and is kept below
        `cache`, so that looking at a run costs no encoder's time."""
        return self.bare().load(cache)
