"""The Swin transformer of CHIEF, in the names of its checkpoint: Swin-T with convolutions at first.

Swin (Liu et al. 2021): attention within windows of 7 x 7, shifted by 3 in every second block, and
four stages that halve the grid. CTransPath and CHIEF put three convolutions in the place of the
4 x 4 patches. The names are those of timm 0.5: merging ends a stage, where it now begins the next.
"""

from typing import Final

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from fidal.encoders.architectures.vit import Mlp

WINDOW: Final = 7
MASKED: Final = -100.0
WIDTH: Final = 96
DEPTHS: Final = (2, 2, 6, 2)
HEADS: Final = (3, 6, 12, 24)


class SwinTiny(nn.Module):
    """Images n x 3 x 224 x 224 -> the mean of the normed last grid, n x 768."""

    def __init__(self, side: int = 224) -> None:
        super().__init__()
        self.patch_embed = ConvStem()
        self.layers = nn.Sequential()
        for number, (depth, heads) in enumerate(zip(DEPTHS, HEADS, strict=True)):
            grid, last = side // 4 >> number, number == len(DEPTHS) - 1
            self.layers.append(Stage(WIDTH << number, depth, heads, grid, last))
        self.norm = nn.LayerNorm(WIDTH << len(DEPTHS) - 1)

    def forward(self, x: Tensor) -> Tensor:
        """See the class."""
        grid = self.layers(self.patch_embed(x))
        return self.norm(grid).mean((1, 2))  # type: ignore[no-any-return]


class ConvStem(nn.Module):
    """n x 3 x H x W -> n x H/4 x W/4 x 96."""

    def __init__(self) -> None:
        super().__init__()
        first, second = WIDTH // 8, WIDTH // 4
        self.proj = nn.Sequential(
            nn.Conv2d(3, first, 3, stride=2, padding=1, bias=False),
            nn.BatchNorm2d(first),
            nn.ReLU(),
            nn.Conv2d(first, second, 3, stride=2, padding=1, bias=False),
            nn.BatchNorm2d(second),
            nn.ReLU(),
            nn.Conv2d(second, WIDTH, 1),
        )
        self.norm = nn.LayerNorm(WIDTH)

    def forward(self, x: Tensor) -> Tensor:
        """See the class."""
        return self.norm(self.proj(x).permute(0, 2, 3, 1))  # type: ignore[no-any-return]


class Stage(nn.Module):
    """Blocks, every second one shifted, and unless it is the last a merging of 2 x 2 into one."""

    def __init__(self, width: int, depth: int, heads: int, grid: int, last: bool) -> None:
        super().__init__()
        # A grid of one window has nowhere to shift to.
        shift = WINDOW // 2 if grid > WINDOW else 0
        self.blocks = nn.Sequential(
            *(Block(width, heads, grid, shift * (number % 2)) for number in range(depth))
        )
        self.downsample = None if last else Merging(width)

    def forward(self, x: Tensor) -> Tensor:
        """In: n x grid x grid x width. Out: the same, or n x grid/2 x grid/2 x 2 width."""
        x = self.blocks(x)
        return x if self.downsample is None else self.downsample(x)


class Merging(nn.Module):
    """Four neighbours side by side, down the first column and then the second, halved by a map."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.norm = nn.LayerNorm(4 * width)
        self.reduction = nn.Linear(4 * width, 2 * width, bias=False)

    def forward(self, x: Tensor) -> Tensor:
        """In: n x H x W x width. Out: n x H/2 x W/2 x 2 width."""
        corners = [x[:, row::2, column::2] for column in (0, 1) for row in (0, 1)]
        return self.reduction(self.norm(torch.cat(corners, dim=-1)))  # type: ignore[no-any-return]


class Block(nn.Module):
    """Attention within windows and a two-layer network, each after a norm and added."""

    attn_mask: Tensor | None

    def __init__(self, width: int, heads: int, grid: int, shift: int) -> None:
        super().__init__()
        self.shift = shift
        self.norm1 = nn.LayerNorm(width)
        self.attn = Attention(width, heads)
        self.norm2 = nn.LayerNorm(width)
        self.mlp = Mlp(width, 4 * width)
        self.register_buffer("attn_mask", apart(grid, shift) if shift else None)

    def forward(self, x: Tensor) -> Tensor:
        """In and out: n x grid x grid x width."""
        turned = torch.roll(self.norm1(x), (-self.shift, -self.shift), (1, 2))
        seen = together(self.attn(windows(turned), self.attn_mask), x.shape[1])
        x = x + torch.roll(seen, (self.shift, self.shift), (1, 2))
        return x + self.mlp(self.norm2(x))  # type: ignore[no-any-return]


class Attention(nn.Module):
    """Attention of the 49 tokens of a window, with a bias for every offset between two of them."""

    relative_position_index: Tensor

    def __init__(self, width: int, heads: int) -> None:
        super().__init__()
        self.heads = heads
        self.relative_position_bias_table = nn.Parameter(torch.zeros((2 * WINDOW - 1) ** 2, heads))
        self.register_buffer("relative_position_index", offsets())
        self.qkv = nn.Linear(width, 3 * width)
        self.proj = nn.Linear(width, width)

    def forward(self, x: Tensor, mask: Tensor | None) -> Tensor:
        """In and out: n windows x 49 x width. The mask is windows x 49 x 49."""
        qkv = self.qkv(x).reshape(*x.shape[:2], 3, self.heads, -1).permute(2, 0, 3, 1, 4)
        bias = self.relative_position_bias_table[self.relative_position_index].permute(2, 0, 1)
        if mask is not None:  # windows x heads x 49 x 49, once for every image
            bias = (bias + mask[:, None]).repeat(len(x) // len(mask), 1, 1, 1)
        q, k, v = qkv
        heads = F.scaled_dot_product_attention(q, k, v, attn_mask=bias.to(q.dtype))
        return self.proj(heads.transpose(1, 2).flatten(2))  # type: ignore[no-any-return]


def windows(x: Tensor) -> Tensor:
    """n x grid x grid x width -> n windows x 49 x width, row by row."""
    n, grid, _, width = x.shape
    tiles = x.reshape(n, grid // WINDOW, WINDOW, grid // WINDOW, WINDOW, width)
    return tiles.transpose(2, 3).reshape(-1, WINDOW**2, width)


def together(x: Tensor, grid: int) -> Tensor:
    """The inverse of `windows`."""
    count = grid // WINDOW
    tiles = x.reshape(-1, count, count, WINDOW, WINDOW, x.shape[-1])
    return tiles.transpose(2, 3).reshape(-1, grid, grid, x.shape[-1])


def offsets() -> Tensor:
    """Row of the bias table for each two tokens of a window, 49 x 49: 13 down + right, from 0."""
    place = torch.arange(WINDOW)
    step = place[:, None] - place + WINDOW - 1
    table = step[:, None, :, None] * (2 * WINDOW - 1) + step[None, :, None, :]
    return table.reshape(WINDOW**2, WINDOW**2)


def apart(grid: int, shift: int) -> Tensor:
    """What keeps tokens apart that a shift has brought into one window from opposite borders.

    Out: windows x 49 x 49, 0 or -100. After the shift an axis has three stretches: whole windows,
    the rest of the last one, and what came round.
    """
    axis = torch.zeros(grid, dtype=torch.long)
    axis[-WINDOW:] = 1
    axis[-shift:] = 2
    region = windows((3 * axis[:, None] + axis)[None, :, :, None]).squeeze(2)
    return torch.where(region[:, None] == region[:, :, None], 0.0, MASKED)
