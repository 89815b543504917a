"""Random networks whose every tensor matters, and images that are not alike."""

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn


def lively(network: nn.Module, images: Tensor, by: float = 0.02) -> nn.Module:
    """Random weights, always the same, and batch norms that fit what flows: a wrong name or turn
    changes the output."""
    generator = torch.Generator().manual_seed(0)
    with torch.no_grad():
        for parameter in network.parameters():
            random = torch.randn(parameter.shape, generator=generator)
            if parameter.ndim > 1:  # As large as it was, but drawn here.
                parameter.copy_(random * parameter.std())
            parameter.add_(by * random)
        norms = [module for module in network.modules() if isinstance(module, nn.BatchNorm2d)]
        for norm in norms:
            norm.momentum = None
            norm.reset_running_stats()
        if norms:
            network.train()(images)
    return network.eval()


def noise(n: int, *shape: int) -> Tensor:
    """Prepared images, n x 3 x H x W."""
    return torch.randn(n, 3, *shape, generator=torch.Generator().manual_seed(1))


def pictures(n: int, height: int, width: int, channels: int = 3) -> NDArray[np.uint8]:
    """Bytes: coarse noise, so that resizing does not wash it out."""
    rng = np.random.default_rng(2)
    coarse = rng.integers(0, 256, (n, -(-height // 8), -(-width // 8), channels), dtype=np.uint8)
    return coarse.repeat(8, axis=1).repeat(8, axis=2)[:, :height, :width].copy()


def close(rows: NDArray[np.float32] | Tensor, expected: Tensor) -> bool:
    """Equal to 1e-4 of the largest number, or of one."""
    scale = max(1.0, float(expected.abs().max()))
    return bool(np.abs(np.asarray(rows) - np.asarray(expected)).max() <= 1e-4 * scale)


def told_apart(rows: Tensor) -> bool:
    """Do two images get features that differ by far more than rounding?"""
    return float((rows[0] - rows[1]).abs().max()) > 0.01
