"""FIDAL exactly as it is printed: every choice of `fidal` set to its literal twin."""

from typing import ClassVar

from pydantic import Field

from fidal.gates import Gate
from fidal.gates.densities.diagonal import DiagonalGaussian
from fidal.strategies.fidal import Fidal, Support
from fidal.uncertainty import Epistemic


class FidalPaper(Fidal):
    """Eq. 2 unscaled with log Gamma(S) inside the sum, w = softmax(-C), plain embeddings and
    variances, the paper's lambdas of FedISIC. What the paper leaves open (no outliers yet, fewer
    survivors than the budget) is done as in `fidal`.
    """

    name: ClassVar[str] = "fidal-paper"

    gate: Gate | None = Field(
        default=Gate(density=DiagonalGaussian(variance_floor=0.0), normalise=False, tail=None),
        description="diagonal Gaussian x Otsu on the embeddings as they are",
    )
    lambda_div: float = Field(default=0.5, ge=0, description="weight of diversity; 0 is none")
    lambda_ood: float = Field(default=0.5, ge=0, description="weight of the penalty; 0 is none")
    lambda_rare: float = Field(default=0.0, ge=0, description="not in the paper")
    support: Support = Field(default="literal", description="w = softmax(-C_ID) as printed")
    epistemic: Epistemic = Field(default="literal", description="Eq. 2 as printed")
