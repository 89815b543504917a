"""One Gaussian per class around its mean, all with the same shrunk covariance."""

from typing import ClassVar

import torch
import torch.nn.functional as F
from torch import Tensor

from fidal.gates.densities.base import Density, Score
from fidal.gates.densities.shrinkage import ledoit_wolf, whitener

PRIOR_IMAGES = 1
"""So many images at the grand mean are added to each class's own. Without, the only image of a
rare class would be its own mean, and would tell the covariance that classes are points."""


class ClassMahalanobis(Density):
    """-1/2 of the squared Mahalanobis distance to the nearest class mean.

    Sees two things the diagonal cannot: that coordinates of an FM embedding are correlated, and
    that eight lesion classes are not one cloud.
    """

    name: ClassVar[str] = "class-mahalanobis"

    def fit(self, labelled: Tensor, labels: Tensor, outliers: Tensor) -> Score:
        """Outliers are not looked at."""
        z = labelled.double()
        centre = z.mean(0)
        z = z - centre
        classes, member = torch.unique(labels, return_inverse=True)
        of_class = F.one_hot(member, len(classes)).to(z).T
        means = of_class @ z / (of_class.sum(1, keepdim=True) + PRIOR_IMAGES)
        W = whitener(ledoit_wolf(z - means[member]))
        white_means = means @ W

        def log_likelihood(q: Tensor) -> Tensor:
            distance = torch.cdist((q.double() - centre) @ W, white_means).amin(1)
            return -0.5 * distance.square()

        return log_likelihood
