"""The vision transformer of PanDerm, in the names of its checkpoint.

A ViT (Dosovitskiy et al. 2021) with three turns of BEiT and CAE: a fixed sine-cosine position
embedding, biases for queries and values but none for keys, and LayerScale.
"""

import torch
from torch import Tensor, nn
from torch.nn import functional as F

EPSILON = 1e-6


class VisionTransformer(nn.Module):
    """Images n x 3 x size x size -> the class token after the last norm, n x width."""

    pos_embed: Tensor

    def __init__(
        self, width: int, depth: int, heads: int, size: int = 224, patch: int = 16
    ) -> None:
        super().__init__()
        self.patch_embed = nn.ModuleDict({"proj": nn.Conv2d(3, width, patch, stride=patch)})
        self.cls_token = nn.Parameter(torch.zeros(1, 1, width))
        self.register_buffer("pos_embed", sine_cosine(size // patch, width))
        self.blocks = nn.Sequential(*(Block(width, heads) for _ in range(depth)))
        self.norm = nn.LayerNorm(width, EPSILON)

    def forward(self, x: Tensor) -> Tensor:
        """See the class."""
        patches = self.patch_embed["proj"](x).flatten(2).transpose(1, 2)
        tokens = torch.cat([self.cls_token.expand(len(x), -1, -1), patches], dim=1)
        tokens = self.blocks(tokens + self.pos_embed)
        return self.norm(tokens[:, 0])  # type: ignore[no-any-return]


class Block(nn.Module):
    """Attention and a two-layer network, each after a norm and added in a learned measure."""

    def __init__(self, width: int, heads: int) -> None:
        super().__init__()
        self.norm1 = nn.LayerNorm(width, EPSILON)
        self.attn = Attention(width, heads)
        self.norm2 = nn.LayerNorm(width, EPSILON)
        self.mlp = Mlp(width, 4 * width)
        self.gamma_1 = nn.Parameter(torch.ones(width))
        self.gamma_2 = nn.Parameter(torch.ones(width))

    def forward(self, x: Tensor) -> Tensor:
        """In and out: n x tokens x width."""
        x = x + self.gamma_1 * self.attn(self.norm1(x))
        return x + self.gamma_2 * self.mlp(self.norm2(x))  # type: ignore[no-any-return]


class Attention(nn.Module):
    """Self-attention of all tokens."""

    def __init__(self, width: int, heads: int) -> None:
        super().__init__()
        self.heads = heads
        self.qkv = nn.Linear(width, 3 * width, bias=False)
        self.q_bias = nn.Parameter(torch.zeros(width))
        self.v_bias = nn.Parameter(torch.zeros(width))
        self.proj = nn.Linear(width, width)

    def forward(self, x: Tensor) -> Tensor:
        """In and out: n x tokens x width."""
        bias = torch.cat([self.q_bias, torch.zeros_like(self.q_bias), self.v_bias])
        qkv = F.linear(x, self.qkv.weight, bias)
        q, k, v = qkv.reshape(*x.shape[:2], 3, self.heads, -1).permute(2, 0, 3, 1, 4)
        heads = F.scaled_dot_product_attention(q, k, v)
        return self.proj(heads.transpose(1, 2).flatten(2))  # type: ignore[no-any-return]


class Mlp(nn.Module):
    """Two layers with a GELU between."""

    def __init__(self, width: int, hidden: int) -> None:
        super().__init__()
        self.fc1 = nn.Linear(width, hidden)
        self.fc2 = nn.Linear(hidden, width)

    def forward(self, x: Tensor) -> Tensor:
        """In and out: ... x width."""
        return self.fc2(F.gelu(self.fc1(x)))  # type: ignore[no-any-return]


def sine_cosine(side: int, width: int) -> Tensor:
    """Where each token of a side x side grid lies: 1 x (1 + side^2) x width.

    Four quarters: sine and cosine of the row, then of the column, at width / 4 frequencies from 1
    down to 1 / 10,000. The class token lies nowhere: zeros.
    """
    quarter = width // 4
    omega = 10_000.0 ** -(torch.arange(quarter) / quarter)
    row, column = torch.meshgrid(torch.arange(side), torch.arange(side), indexing="ij")
    angles = [axis.flatten()[:, None] * omega for axis in (row, column)]
    waves = [wave for angle in angles for wave in (angle.sin(), angle.cos())]
    return torch.cat([torch.zeros(1, width), torch.cat(waves, dim=1)])[None]
