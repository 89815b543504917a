"""Augmentation on the device, per image: flips, rotation, brightness and contrast (FEAL's set)."""

import math
from typing import Final

import torch
import torch.nn.functional as F
from torch import Tensor

ROTATION: Final = 10.0
"""Degrees, either way."""
BRIGHTNESS: Final = 0.15
CONTRAST: Final = 0.1

DRAWS: Final = 5
"""Random numbers per image."""


def augment(images: Tensor, draw: Tensor) -> Tensor:
    """In: n x 3 x H x W in [0, 1]; uniform numbers of [0, 1), DRAWS x n. Out: like the images.

    The numbers are drawn outside, so that a captured step does to an image what a plain one does.
    """
    angle = (2 * draw[0] - 1) * math.radians(ROTATION)
    mirror_x, mirror_y = (draw[1] < 0.5) * 2.0 - 1, (draw[2] < 0.5) * 2.0 - 1
    cos, sin, zero = angle.cos(), angle.sin(), torch.zeros_like(angle)
    rows = [
        torch.stack([cos * mirror_x, -sin * mirror_y, zero], 1),
        torch.stack([sin * mirror_x, cos * mirror_y, zero], 1),
    ]
    grid = F.affine_grid(torch.stack(rows, 1), list(images.shape), align_corners=False)
    turned = F.grid_sample(images, grid, padding_mode="reflection", align_corners=False)
    brighter = 1 + (2 * draw[3] - 1) * BRIGHTNESS
    contrast = 1 + (2 * draw[4] - 1) * CONTRAST
    mean = turned.mean((1, 2, 3), keepdim=True)
    each = (slice(None), None, None, None)
    return ((turned - mean) * contrast[each] + mean * brighter[each]).clamp(0, 1)
