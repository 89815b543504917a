"""Honest scores of the labelled images: each is scored by a density that has not seen it."""

import torch
from torch import Tensor

from fidal.gates.densities.base import Density, Score

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
    density: Density,
    labelled: Tensor,
    labels: Tensor,
    outliers: Tensor,
    anchors: Tensor,
    anchor_scores: Tensor,
) -> tuple[Tensor, Tensor]:
    """Scores of the labelled ID images, n, and of the labelled outliers, m, each held out once.

    Four fifths of the data give another scale, a likelihood ratio visibly so. What can be compared
    is where an image stands among the candidates: each fold's scores are moved and stretched so
    that the `anchors`, a x e candidates, have the mean and spread of their `anchor_scores`, a,
    under the density fitted to all.

    A single outlier stays in every fit and gets no score (m = 0 comes back): a likelihood ratio
    without any outlier is another score altogether.
    """
    fold, foreign_fold = folds(labels), folds(labels.new_zeros(len(outliers)))
    if len(outliers) == 1:
        foreign_fold = foreign_fold - 1
    null = labelled.new_empty(len(labelled), dtype=torch.float64)
    foreign = labelled.new_empty(len(outliers), dtype=torch.float64)
    for k in range(FOLDS):
        inside, foreign_inside = fold == k, foreign_fold == k
        fitted = density.fit(labelled[~inside], labels[~inside], outliers[~foreign_inside])
        score = _on_scale(fitted, anchors, anchor_scores)
        null[inside] = score(labelled[inside])
        if bool(foreign_inside.any()):
            foreign[foreign_inside] = score(outliers[foreign_inside])
    return null, foreign[foreign_fold >= 0]


def _on_scale(score: Score, anchors: Tensor, anchor_scores: Tensor) -> Score:
    """The same score with the mean and standard deviation that the anchors ought to have."""
    found = score(anchors)
    spread = found.std(correction=0)
    stretch = torch.where(spread > 0, anchor_scores.std(correction=0) / spread, 1)
    return lambda q: (score(q) - found.mean()) * stretch + anchor_scores.mean()
