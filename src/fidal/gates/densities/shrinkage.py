"""Covariances that stay well conditioned when there are fewer images than dimensions."""

import torch
from torch import Tensor

LEAST_SHRINKAGE = 1e-6
SMALLEST_VARIANCE = 1e-12


def ledoit_wolf(residuals: Tensor) -> Tensor:
    """(1 - a) S + a m I, with S = X'X / n, m = tr S / e and the a of Ledoit & Wolf 2004, Eq. 14.

    In: centred X, n x e. Out: e x e. Own closed form, since scikit-learn's forms a second Gram
    matrix, of the squared entries, to get the sum of |x_i|^4 (docs/performance.md).
    """
    n, e = residuals.shape
    S = residuals.T @ residuals / n
    scale = S.diagonal().mean().clamp_min(SMALLEST_VARIANCE)
    norm = S.square().sum()
    noise = (residuals.square().sum(1).square().mean() - norm) / n
    # Two images mirrored at their mean have no noise, yet a singular S: shrink a little always.
    a = (noise / (norm - e * scale**2).clamp_min(1e-300)).clamp(LEAST_SHRINKAGE, 1)
    return (1 - a) * S + a * scale * torch.eye(e, dtype=S.dtype, device=S.device)


def whitener(covariance: Tensor) -> Tensor:
    """W with W W' = inverse covariance, so that |x W|^2 is x's squared Mahalanobis distance."""
    lower = torch.linalg.cholesky(covariance)
    identity = torch.eye(len(lower), dtype=lower.dtype, device=lower.device)
    inverse: Tensor = torch.linalg.solve_triangular(lower, identity, upper=False)
    return inverse.T
