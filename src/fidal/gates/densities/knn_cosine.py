"""Similarity to the nearest labelled ID images: no shape of the ID set is assumed."""

from typing import ClassVar

from pydantic import Field
from torch import Tensor

from fidal.gates.densities.base import Density, Score
from fidal.neighbours.similarity import nearest, unit


class KnnCosine(Density):
    """Mean cosine similarity to the k nearest labelled ID images (all of them if fewer than k).

    The mean, not the k-th alone: on SSCD embeddings it separates as well or better for every k.
    """

    name: ClassVar[str] = "knn-cosine"
    k: int = Field(default=5, ge=1, description="number of nearest labelled ID images")

    def fit(self, labelled: Tensor, labels: Tensor, outliers: Tensor) -> Score:
        """Classes and outliers are not looked at."""
        references = unit(labelled.double())
        k = min(self.k, len(references))
        return lambda q: nearest(unit(q.double()), references, k)[0].mean(1)
