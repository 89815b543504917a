"""The paper's density: one diagonal Gaussian around the labelled ID images."""

from typing import ClassVar

import torch
from pydantic import Field
from torch import Tensor

from fidal.gates.densities.base import Density, Score

SMALLEST_VARIANCE = 1e-12


class DiagonalGaussian(Density):
    """Eq. 9-10: log-likelihood under the moments of L_ID, coordinate by coordinate.

    In FM space some coordinates hardly vary, and their 1/sigma^2 would drown all others; the
    floor is relative, so it does not depend on the encoder's scale. `variance_floor = 0` is the
    printed formula.
    """

    name: ClassVar[str] = "diagonal"
    variance_floor: float = Field(
        default=1e-3, ge=0, description="smallest variance of a coordinate, times the mean variance"
    )

    def fit(self, labelled: Tensor, labels: Tensor, outliers: Tensor) -> Score:
        """Classes and outliers are not looked at."""
        z = labelled.double()
        mu, variance = z.mean(0), z.var(0)
        floor = (self.variance_floor * variance.mean()).clamp_min(SMALLEST_VARIANCE)
        variance = torch.maximum(variance, floor)
        precision, log_det = 1 / variance, variance.log().sum()

        def log_likelihood(q: Tensor) -> Tensor:
            deviation = q.double() - mu
            deviation *= deviation
            return -0.5 * (deviation @ precision + log_det)

        return log_likelihood
