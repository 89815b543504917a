"""What a density is: labelled embeddings in, a function that scores candidates out."""

from abc import ABC, abstractmethod
from collections.abc import Callable

from torch import Tensor

from fidal.parts import Part

Score = Callable[[Tensor], Tensor]
"""From q x e embeddings to q scores in float64; higher = more in-distribution."""


class Density(Part, ABC):
    """How well an embedding g(x) agrees with the labelled ID images, up to an affine map."""

    @abstractmethod
    def fit(self, labelled: Tensor, labels: Tensor, outliers: Tensor) -> Score:
        """In: labelled ID n x e (n >= 2) and their classes n, labelled outliers m x e (m >= 0)."""
