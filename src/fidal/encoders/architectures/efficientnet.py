"""EfficientNet in the names of efficientnet_pytorch, which Mammo-CLIP's checkpoints have.

Tan and Le 2019, with the padding of that package: as TensorFlow's "same" pads a square image of the
resolution that the network is named after (456 pixels for B5). It is fixed then, whatever size is
seen later: on 1520 x 912 pixels TensorFlow, and timm's `tf_efficientnet_b5`, would pad some layers
otherwise, and the features differ.
"""

import math
from dataclasses import dataclass
from typing import Final

import torch
from torch import Tensor, nn
from torch.nn import functional as F

EPSILON: Final = 1e-3
STAGES: Final = (  # repeats, kernel, stride, expansion, output channels of B0
    (1, 3, 1, 1, 16),
    (2, 3, 2, 6, 24),
    (2, 5, 2, 6, 40),
    (3, 3, 2, 6, 80),
    (3, 5, 1, 6, 112),
    (4, 5, 2, 6, 192),
    (1, 3, 1, 6, 320),
)


@dataclass(frozen=True)
class Scale:
    """How much larger than B0: channels, layers, and the resolution that padding is made for."""

    width: float
    depth: float
    pixels: int

    def channels(self, of_b0: int) -> int:
        """To a multiple of 8, and not down by more than a tenth."""
        wanted = of_b0 * self.width
        near = max(8, int(wanted + 4) // 8 * 8)
        return near + 8 if near < 0.9 * wanted else near


B2: Final = Scale(1.1, 1.2, 260)
B5: Final = Scale(1.6, 2.2, 456)


class EfficientNet(nn.Module):
    """Images n x 3 x H x W -> the mean of the last map, n x 2048 (B5) or 1408 (B2)."""

    def __init__(self, scale: Scale) -> None:
        super().__init__()
        into, pixels = scale.channels(32), scale.pixels
        self._conv_stem = Convolution(3, into, 3, 2, pixels)
        self._bn0 = nn.BatchNorm2d(into, EPSILON)
        pixels = math.ceil(pixels / 2)
        self._blocks = nn.Sequential()
        for repeats, kernel, stride, expansion, of_b0 in STAGES:
            out = scale.channels(of_b0)
            for number in range(math.ceil(scale.depth * repeats)):
                step = stride if number == 0 else 1
                self._blocks.append(Block(into, out, kernel, step, expansion, pixels))
                into, pixels = out, math.ceil(pixels / step)
        self._conv_head = Convolution(into, scale.channels(1280), 1, 1, pixels)
        self._bn1 = nn.BatchNorm2d(scale.channels(1280), EPSILON)

    def forward(self, x: Tensor) -> Tensor:
        """See the class."""
        x = self._blocks(F.silu(self._bn0(self._conv_stem(x))))
        return F.silu(self._bn1(self._conv_head(x))).mean((2, 3))


class Block(nn.Module):
    """Expansion, a convolution of each channel, squeeze and excitation, projection, and the sum."""

    def __init__(
        self, into: int, out: int, kernel: int, stride: int, expansion: int, pixels: int
    ) -> None:
        super().__init__()
        wide, squeezed = into * expansion, max(1, into // 4)
        self.expands, self.adds = expansion > 1, stride == 1 and into == out
        if self.expands:
            self._expand_conv = Convolution(into, wide, 1, 1, pixels)
            self._bn0 = nn.BatchNorm2d(wide, EPSILON)
        self._depthwise_conv = Convolution(wide, wide, kernel, stride, pixels, groups=wide)
        self._bn1 = nn.BatchNorm2d(wide, EPSILON)
        self._se_reduce = nn.Conv2d(wide, squeezed, 1)
        self._se_expand = nn.Conv2d(squeezed, wide, 1)
        self._project_conv = Convolution(wide, out, 1, 1, pixels)
        self._bn2 = nn.BatchNorm2d(out, EPSILON)

    def forward(self, x: Tensor) -> Tensor:
        """In: n x into x H x W. Out: n x out x H/stride x W/stride."""
        wide = F.silu(self._bn0(self._expand_conv(x))) if self.expands else x
        wide = F.silu(self._bn1(self._depthwise_conv(wide)))
        excitation = self._se_expand(F.silu(self._se_reduce(wide.mean((2, 3), keepdim=True))))
        narrow: Tensor = self._bn2(self._project_conv(wide * torch.sigmoid(excitation)))
        return narrow + x if self.adds else narrow


class Convolution(nn.Conv2d):
    """Without bias, padded so that an image of `pixels` becomes one of pixels / stride."""

    def __init__(
        self, into: int, out: int, kernel: int, stride: int, pixels: int, groups: int = 1
    ) -> None:
        super().__init__(into, out, kernel, stride, groups=groups, bias=False)
        missing = max(0, (math.ceil(pixels / stride) - 1) * stride + kernel - pixels)
        self.border = (missing // 2, missing - missing // 2) * 2  # more at the right and below

    def forward(self, x: Tensor) -> Tensor:
        """See the class."""
        return super().forward(F.pad(x, self.border))
