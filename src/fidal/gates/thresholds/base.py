"""What a threshold is: one-dimensional scores in, a cut out."""

from abc import ABC, abstractmethod
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray
from torch import Tensor

from fidal.parts import Part

Scores = NDArray[np.float64]


class Threshold(Part, ABC):
    """Where to cut the scores G of the candidates, or that they should not be cut."""

    needs_null: ClassVar[bool] = False
    """Does it refuse nothing unless it gets the cross-fitted scores of labelled ID images?"""

    @abstractmethod
    def cut(self, scores: Tensor, null: Tensor | None) -> float | None:
        """The cut, candidates with G below it being refused; None = refuse nothing.

        In: G of the n candidates in [0, 1]; cross-fitted scores of labelled ID images on the same
        scale, which may lie outside [0, 1]; None where they are too few.
        """

    def caution(self, n_null: int) -> tuple[str, ...]:
        """What a person should know about a cut found with `n_null` labelled ID images."""
        return ()


def ascending(scores: Tensor) -> Scores:
    """Sorted on the CPU, so that no cut depends on the order of the candidates or the device."""
    return np.sort(scores.detach().cpu().numpy().astype(np.float64))
