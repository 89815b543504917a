"""Stored bytes -> what a network sees: one colour or three, resized, cut, normalised.

Resizing is antialiased and rounds to whole grey levels after each of its two passes, as Pillow does
in the transforms that the encoders were published with; a few pixels differ by a level or two.
"""

from dataclasses import dataclass
from typing import Literal

import torch
from torch import Tensor
from torch.nn import functional as F

Resample = Literal["bilinear", "bicubic"]
Triple = tuple[float, float, float]


@dataclass(frozen=True)
class Preparation:
    """The published evaluation transform of one encoder."""

    size: int | None
    """The network sees size x size pixels; None: whatever is stored."""
    mean: Triple
    std: Triple
    edge: int | None = None
    """The shorter edge becomes so long before the centre is cut; `size` if unset."""
    resample: Resample = "bilinear"
    squash: bool = False
    """Both edges become `size`, whatever the shape was; nothing is cut."""
    stretch: bool = False
    """Each image's own darkest and brightest value become 0 and 1."""

    def __call__(self, images: Tensor) -> Tensor:
        """In: bytes n x H x W x 3 or n x H x W x 1. Out: float32, n x 3 x size x size."""
        x = images.permute(0, 3, 1, 2)
        if self.size is not None:
            x = self._cut(self._resized(x, self.size), self.size)
        x = x.expand(-1, 3, -1, -1).to(torch.float32, memory_format=torch.contiguous_format)
        x = _stretched(x) if self.stretch else x.div_(255)
        mean, std = (x.new_tensor(values)[:, None, None] for values in (self.mean, self.std))
        return x.sub_(mean).div_(std)

    def _resized(self, x: Tensor, size: int) -> Tensor:
        height, width = x.shape[2:]
        edge, shorter = self.edge or size, min(height, width)
        shape = [int(edge * length / shorter) for length in (height, width)]
        if self.squash:
            shape = [size, size]
        if shape == [height, width]:
            return x
        if not x.is_cuda:  # PyTorch's resizing of bytes: as Pillow's, and five times faster.
            return F.interpolate(x, shape, mode=self.resample, antialias=True)
        x = x.float()
        for target in ((height, shape[1]), shape):  # along the rows, then along the columns
            x = F.interpolate(x, target, mode=self.resample, antialias=True).round_().clamp_(0, 255)
        return x

    def _cut(self, x: Tensor, size: int) -> Tensor:
        top, left = (round((length - size) / 2) for length in x.shape[2:])
        return x[:, :, top : top + size, left : left + size]

    def __str__(self) -> str:
        if self.size is None:
            return "as stored"
        if self.squash or self.edge in (None, self.size):
            return f"{self.size} ({self.resample})"
        return f"{self.size} of {self.edge} ({self.resample})"


def _stretched(x: Tensor) -> Tensor:
    """A flat image becomes black."""
    low = x.amin((1, 2, 3), keepdim=True)
    high = x.amax((1, 2, 3), keepdim=True)
    return torch.where(high > low, (x - low) / (high - low).clamp(min=1), 0)
