"""Scores by subgroup of the test images: any column of the manifest, such as sex or skin tone."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Final

import numpy as np
from matplotlib.ticker import MaxNLocator
from numpy.typing import NDArray

from fidal.data.benchmark import TEST, Manifest
from fidal.experiment.metrics import accuracy, balanced_accuracy
from fidal.report.album import Album
from fidal.report.evidence import predictions
from fidal.report.frame import RunRows, Study
from fidal.report.spread import Spread

FEW: Final = 30
"""Test images below which a subgroup's score says little."""
MOST: Final = 10
"""A column of more values names images, not groups, unless it holds numbers."""
BANDS: Final = 6
"""Numbers are put into about so many bands of round width."""
NOT_RECORDED: Final = "not recorded"

Words = NDArray[np.str_]
Numbers = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Subgroup:
    """The test images that have one value in one column, over all sites."""

    column: str
    value: str
    images: int
    classes: int
    """So many classes are among them: balanced accuracy is the mean recall of these."""
    scores: Mapping[str, Spread]
    """By method, over the seeds whose sites kept their predictions of the last round."""

    @property
    def few(self) -> bool:
        """Too few images to say much."""
        return self.images < FEW


def subgroups(study: Study, album: Album) -> tuple[Subgroup, ...]:
    """All groups of all columns; empty if no site kept predictions, or no column tells groups."""
    manifest = album.benchmark.manifest
    groups = list(groups_of(manifest))
    if not groups:
        return ()
    reader = _Reader(album, study.rounds[-1])
    by_method = {
        method: [reader.predicted(study.run(method, seed)) for seed in study.seeds]
        for method in study.main
    }
    if all(each is None for own in by_method.values() for each in own):
        return ()
    return tuple(
        Subgroup(
            column=column,
            value=value,
            images=len(rows),
            classes=len(np.unique(manifest.label[rows])),
            scores={
                method: Spread.over(np.array([_score(study, manifest, rows, x) for x in own]))
                for method, own in by_method.items()
            },
        )
        for column, value, rows in groups
    )


def groups_of(manifest: Manifest) -> Iterator[tuple[str, str, Numbers]]:
    """Column, value and rows of the manifest: the test images that have a class.

    Left out: columns in which all images are alike or nearly all differ, and those that the class
    tells already.
    """
    rows = np.flatnonzero((manifest.split == TEST) & (manifest.label >= 0))
    for column, every in manifest.columns.items():
        words = banded(every[rows])
        values = sorted(set(words.tolist()), key=_place)
        if not 2 <= len(values) <= MOST:
            continue
        labels = manifest.label[rows]
        if any(len(np.unique(words[labels == label])) > 1 for label in np.unique(labels)):
            yield from ((column, value, rows[words == value]) for value in values)


def banded(words: Words) -> Words:
    """Numbers of many values become bands, "40 to 60" (without 60); no word is "not recorded".

    >>> banded(np.array(["f", "m", ""])).tolist()
    ['f', 'm', 'not recorded']
    """
    there = words != ""
    named = np.where(there, words, NOT_RECORDED)
    try:
        numbers = words[there].astype(np.float64)
    except ValueError:
        return named
    if len(np.unique(numbers)) <= MOST or not np.isfinite(numbers).all():
        return named
    edges = MaxNLocator(BANDS, steps=[1, 2, 5, 10]).tick_values(numbers.min(), numbers.max())
    lower = np.searchsorted(edges, numbers, side="right") - 1
    texts = [f"{a:g} to {b:g}" for a, b in zip(edges, [*edges[1:], np.inf], strict=True)]
    bands = np.full(len(words), NOT_RECORDED, dtype=object)
    bands[there] = [texts[band] for band in lower]
    return bands.astype(str)


def _place(value: str) -> tuple[bool, float, str]:
    """Bands and numbers by size, words by the alphabet, what is not recorded last."""
    try:
        number = float(value.split(" to ")[0])
    except ValueError:
        number = 0.0
    return (value == NOT_RECORDED, number, value)


def _score(study: Study, manifest: Manifest, rows: Numbers, predicted: Numbers | None) -> float:
    if predicted is None or (predicted[rows] < 0).any():
        return float("nan")
    classes = len(manifest.classes)
    counts = np.zeros((classes, classes), dtype=np.int64)
    np.add.at(counts, (manifest.label[rows], predicted[rows]), 1)
    measure = accuracy if study.measure == "accuracy" else balanced_accuracy
    return measure(counts.tolist())


class _Reader:
    """Predictions by row of the manifest. Runs of one study share their ids, found once."""

    def __init__(self, album: Album, round: int) -> None:
        self._album, self._round = album, round
        self._rows: dict[str, Numbers] = {}

    def predicted(self, run: RunRows | None) -> Numbers | None:
        """N, -1 where there is no prediction; None unless all sites kept those of the round."""
        if run is None:
            return None
        every = np.full(len(self._album.benchmark.manifest.ids), -1, dtype=np.int64)
        for site in run.sites:
            kept = predictions(run, site)
            if kept is None or kept.round != self._round:
                return None
            every[self._rows_of(kept.ids)] = kept.predicted
        return every

    def _rows_of(self, ids: str) -> Numbers:
        if ids not in self._rows:
            self._rows[ids] = self._album.rows(ids.split("\n") if ids else [])
        return self._rows[ids]
