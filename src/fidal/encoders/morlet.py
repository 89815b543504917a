"""Morlet wavelets in the Fourier domain: the filters of the scattering transform.

A Morlet wavelet is a Gaussian times a plane wave, less as much of that Gaussian as makes its mean
zero. At scale j the wave has the frequency 3/4 pi 2^-j and the Gaussian the width 0.8 2^j pixels
along the wave, as in Bruna and Mallat, "Invariant scattering convolution networks" (2013).
"""

import math
from typing import Final

import torch
from torch import Tensor

WIDTH: Final = 0.8
FREQUENCY: Final = 0.75 * math.pi


def filter_bank(pixels: int, scales: int, angles: int) -> Tensor:
    """Transfer functions at the FFT's frequencies, scales x angles x pixels x pixels, real.

    They are float64: what they are multiplied with decides the precision.
    """
    omega = 2 * math.pi * torch.fft.fftfreq(pixels, dtype=torch.float64)
    turns = [math.pi * k / angles for k in range(angles)]
    bank = [torch.stack([_morlet(omega, j, turn, angles) for turn in turns]) for j in range(scales)]
    return torch.stack(bank)


def _morlet(omega: Tensor, scale: int, turn: float, angles: int) -> Tensor:
    wave = _gaussian(omega, scale, turn, angles, FREQUENCY / 2**scale)
    ground = _gaussian(omega, scale, turn, angles, 0.0)
    return wave - wave[0, 0] / ground[0, 0] * ground


def _gaussian(omega: Tensor, scale: int, turn: float, angles: int, shift: float) -> Tensor:
    """Fourier transform of the Gaussian envelope on a plane wave of frequency `shift`.

    The more angles, the longer the envelope is across the wave and the finer it tells directions.
    Frequencies above the pixel grid's fold back onto it.
    """
    width, slant = WIDTH * 2**scale, 4 / angles
    total = torch.zeros(len(omega), len(omega), dtype=omega.dtype)
    for fold in torch.cartesian_prod(torch.arange(-1, 2), torch.arange(-1, 2)) * 2 * math.pi:
        y, x = omega[:, None] + fold[0], omega[None] + fold[1]
        along = x * math.cos(turn) + y * math.sin(turn) - shift
        across = y * math.cos(turn) - x * math.sin(turn)
        total += torch.exp(-0.5 * width**2 * (along**2 + (across / slant) ** 2))
    return total
