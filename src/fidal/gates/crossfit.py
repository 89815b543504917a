"""Honest scores of the labelled images: each is scored by a density that has not seen it."""

import torch
from torch import Tensor

from fidal.gates.densities.base import Density

FOLDS = 5
FEWEST = 10
"""Labelled ID images below which a fold would be fitted to a handful of points."""


def folds(labels: Tensor) -> Tensor:
    """A fold 0..4 for each of n images: class by class in turn, so that each fold has all classes.

    In: classes, n, int64. Out: folds, n. No random number: the order of the images is the draw.
    """
    by_class = torch.argsort(labels, stable=True)
    fold = torch.empty_like(by_class)
    fold[by_class] = torch.arange(len(labels), device=labels.device) % FOLDS
    return fold


def cross_fit(
    density: Density, labelled: Tensor, labels: Tensor, outliers: Tensor
) -> tuple[Tensor, Tensor]:
    """Scores of the labelled ID images, n, and of the labelled outliers, m, each held out once.

    A single outlier stays in every fit and gets no score (m = 0 comes back): a likelihood ratio
    without any outlier is another score, and its folds could not be compared.
    """
    fold, foreign_fold = folds(labels), folds(labels.new_zeros(len(outliers)))
    if len(outliers) == 1:
        foreign_fold = foreign_fold - 1
    null = labelled.new_empty(len(labelled), dtype=torch.float64)
    foreign = labelled.new_empty(len(outliers), dtype=torch.float64)
    for k in range(FOLDS):
        inside, foreign_inside = fold == k, foreign_fold == k
        score = density.fit(labelled[~inside], labels[~inside], outliers[~foreign_inside])
        null[inside] = score(labelled[inside])
        if bool(foreign_inside.any()):
            foreign[foreign_inside] = score(outliers[foreign_inside])
    return null, foreign[foreign_fold >= 0]
