"""Labelled ID images against labelled outliers: the only density that learns from both."""

from typing import ClassVar

import torch
from pydantic import Field
from torch import Tensor

from fidal.gates.densities.base import Density, Score
from fidal.gates.densities.shrinkage import ledoit_wolf, whitener


class LikelihoodRatio(Density):
    """log p_ID - log p_OOD, two Gaussians; log p_ID alone where no outlier is labelled yet.

    Ten outliers cannot carry a covariance of their own in 512 dimensions, so both Gaussians get
    the Ledoit-Wolf one of all residuals, as in linear discriminant analysis. That alone would
    trust an unknown kind of outlier that lies on the ID side of the plane; hence p_OOD is the
    broader of the two: its covariance goes a further step, `broadening`, towards a sphere.
    """

    name: ClassVar[str] = "likelihood-ratio"
    broadening: float = Field(
        default=0.1, ge=0, le=1, description="extra shrinkage of the outliers' covariance"
    )

    def fit(self, labelled: Tensor, labels: Tensor, outliers: Tensor) -> Score:
        """Classes are not looked at."""
        id_images, foreign = labelled.double(), outliers.double()
        mean = id_images.mean(0)
        if len(foreign) == 0:
            return _gaussian(mean, ledoit_wolf(id_images - mean))
        foreign_mean = foreign.mean(0)
        shared = ledoit_wolf(torch.cat([id_images - mean, foreign - foreign_mean]))
        sphere = torch.eye(len(shared), dtype=shared.dtype, device=shared.device)
        broad = torch.lerp(shared, shared.diagonal().mean() * sphere, self.broadening)
        log_id, log_ood = _gaussian(mean, shared), _gaussian(foreign_mean, broad)
        return lambda q: log_id(q) - log_ood(q)


def _gaussian(mean: Tensor, covariance: Tensor) -> Score:
    W = whitener(covariance)
    log_volume = W.diagonal().log().sum()
    return lambda q: log_volume - 0.5 * ((q.double() - mean) @ W).square().sum(1)
