"""Inner products of unit rows on a GPU: nearly as exact as float32's and 2.5 times faster.

Tensor cores multiply half-precision numbers ten times faster than a GPU multiplies float32, and add
up in float32. Each number is split into a half-precision one and what that leaves, x = a + b, and

    x . y = a . a' + a . b' + b . a'  (+ b . b', below 2^-22)

is one product of rows of three times the width. Tensor cores cut off what they add instead of
rounding it, which at width 1280 costs up to 3e-6. TF32 or bfloat16 alone would be off by 1e-4 to
1e-3. Of 198,000 support counts (Eq. 6) one in six then differs from float64's, by 0.1 % at most,
and the same images are chosen; benchmarks/gpu_selection.py shows it.
"""

from typing import Final

import torch
from torch import Tensor

HALVES: Final = hasattr(torch.ops.aten.mm, "dtype_out")
"""Can torch multiply halves into float32? Since 2.8."""


def left(x: Tensor) -> Tensor:
    """In: n x d, float32, entries in [-1, 1]. Out: [a | a | b], n x 3d, float16."""
    a, b = _split(x)
    return torch.cat([a, a, b], 1)


def right(x: Tensor) -> Tensor:
    """In: n x d, float32, entries in [-1, 1]. Out: [a | b | a], n x 3d, float16."""
    a, b = _split(x)
    return torch.cat([a, b, a], 1)


def multiply(rows: Tensor, columns: Tensor, out: Tensor) -> None:
    """What `left` and `right` made, to float32 inner products n x m. On a GPU only."""
    torch.ops.aten.mm.dtype_out(rows, columns.T, torch.float32, out=out)


def _split(x: Tensor) -> tuple[Tensor, Tensor]:
    a = x.half()
    return a, (x - a).half()
