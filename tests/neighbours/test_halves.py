import pytest
import torch

from fidal.neighbours.halves import left, multiply, right
from fidal.neighbours.similarity import unit


def rows(n: int, width: int, seed: int) -> torch.Tensor:
    generator = torch.Generator().manual_seed(seed)
    return unit(torch.randn(n, width, generator=generator) ** 3)  # a few large, many small entries


@pytest.mark.parametrize("width", [3, 64, 1280])
def test_three_half_precision_products_are_as_good_as_a_float32_one(width: int) -> None:
    x, y = rows(200, width, 0), rows(300, width, 1)
    exact = x.double() @ y.double().T
    error = (left(x).double() @ right(y).double().T - exact).abs().max()
    alone = (x.half().double() @ y.half().double().T - exact).abs().max()
    assert float(error) < 2**-22  # two units of float32 at 1
    assert float(alone) > 100 * float(error)


@pytest.mark.gpu
def test_a_gpu_multiplies_halves_thirty_times_better_than_tf32() -> None:
    x, y = rows(2000, 1280, 0).cuda(), rows(3000, 1280, 1).cuda()
    found = torch.full((2000, 3000), torch.nan, device="cuda")
    multiply(left(x), right(y), found)
    exact = x.double() @ y.double().T
    assert float((found - exact).abs().max()) < 4e-6  # the sums are cut off; measured: 2.8e-6
