"""From counts to the numbers of a row: accuracy, balanced accuracy, recall, purity."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

Counts = Sequence[Sequence[int]]
"""`confusion[true][predicted]`."""


def recalls(confusion: Counts) -> NDArray[np.float64]:
    """Recall per class, C; NaN for a class without test images."""
    counts = np.asarray(confusion, dtype=np.float64)
    total = counts.sum(1)
    with np.errstate(invalid="ignore"):
        return np.asarray(np.diag(counts) / total, dtype=np.float64)


def balanced_accuracy(confusion: Counts) -> float:
    """BMA: mean recall over the classes that have test images (absent classes don't count, A21)."""
    each = recalls(confusion)
    return float(np.nanmean(each)) if np.isfinite(each).any() else float("nan")


def accuracy(confusion: Counts) -> float:
    """Share of the test images classified rightly."""
    counts = np.asarray(confusion, dtype=np.float64)
    return float(np.diag(counts).sum() / counts.sum()) if counts.sum() else float("nan")


def pooled(confusions: Sequence[Counts]) -> Counts:
    """The counts of all sites' test images together."""
    total = np.sum([np.asarray(c) for c in confusions], axis=0)
    return [[int(x) for x in row] for row in total]


def purity(n_id: int, n_ood: int) -> float:
    """ID purity: share of everything an expert looked at, warm-up included, that was ID."""
    return n_id / (n_id + n_ood) if n_id + n_ood else float("nan")
