import numpy as np
import pytest
import torch
from torch import Tensor

from fidal.encoders.morlet import filter_bank
from fidal.encoders.wavelets import _fold, average, moduli

PIXELS, SCALES, ANGLES = 32, 4, 4


@pytest.fixture
def bank() -> Tensor:
    return filter_bank(PIXELS, SCALES, ANGLES).to(torch.complex128)


@pytest.fixture
def signal() -> Tensor:
    generator = torch.Generator().manual_seed(0)
    return torch.rand(2, PIXELS, PIXELS, dtype=torch.float64, generator=generator)


def naive(signal: Tensor, transfer: Tensor) -> np.ndarray:
    """|x * psi| on the whole grid by a double loop over shifts."""
    x, psi = signal.numpy(), np.fft.ifft2(transfer.real.numpy())
    total = np.zeros(x.shape, dtype=complex)
    for dy in range(PIXELS):
        for dx in range(PIXELS):
            total += psi[dy, dx] * np.roll(x, (dy, dx), axis=(-2, -1))
    return np.abs(total)


@pytest.mark.parametrize("scale", range(SCALES))
@pytest.mark.parametrize("fine", [True, False])
def test_moduli_are_those_of_the_convolution_on_a_coarser_grid(
    signal: Tensor, bank: Tensor, scale: int, fine: bool
) -> None:
    found = moduli(torch.fft.fft2(signal), bank, scale, fine=fine)
    step = 2 ** max(scale - 1, 0) if fine else 2**scale
    assert found.shape == (2, ANGLES, PIXELS // step, PIXELS // step)
    for angle in range(ANGLES):
        expected = naive(signal, bank[scale, angle])[:, ::step, ::step]
        # Nothing is lost at scales 0 and 1; beyond, frequencies that a wavelet hardly passes.
        limit = 1e-9 if scale < 2 else 0.03 * expected.max()
        assert np.abs(found[:, angle].numpy() - expected).max() < limit


def test_moduli_of_a_coarse_signal_use_its_own_grid(signal: Tensor, bank: Tensor) -> None:
    coarse = signal[:, ::4, ::4]
    found = moduli(torch.fft.fft2(coarse), bank, 3, fine=False)
    assert found.shape == (2, ANGLES, 4, 4)
    wide = torch.fft.fft2(coarse)
    transfer = bank[3][:, [0, 1, 2, 3, -4, -3, -2, -1]][:, :, [0, 1, 2, 3, -4, -3, -2, -1]]
    expected = torch.fft.ifft2(wide[:, None] * transfer).abs()[..., ::2, ::2]
    assert torch.allclose(found, expected, atol=1e-9)


def test_folding_a_spectrum_is_taking_every_second_pixel(signal: Tensor) -> None:
    half = torch.fft.ifft2(_fold(torch.fft.fft2(signal))) / 4
    assert torch.allclose(half.real, signal[:, ::2, ::2], atol=1e-12)


def test_the_average_of_a_constant_is_the_constant() -> None:
    assert torch.allclose(average(torch.full((3, 16, 16), 2.5)), torch.full((3,), 2.5))


def test_the_average_hardly_sees_the_border() -> None:
    field = torch.zeros(16, 16)
    field[0], field[-1], field[:, 0], field[:, -1] = 1, 1, 1, 1
    assert 0 < float(average(field)) < 0.02 < float(field.mean())
