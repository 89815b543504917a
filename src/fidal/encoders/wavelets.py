"""Wavelet scattering: mean moduli of wavelet coefficients, and of the coefficients of the moduli.

S1[j, t] = mean |x * psi(j, t)| and S2[j, t, k, u] = mean ||x * psi(j, t)| * psi(k, u)|, k > j
(Bruna and Mallat 2013). The mean is weighted by a window that leaves out the border: the FFT takes
an image for periodic, and its opposite borders don't fit.

Everything that is slow is done on the coarsest grid that holds it: a signal of scale j has no
frequencies above pi 2^(1-j), so its spectrum is cropped, and means need only every 2^j-th pixel, so
the product with a filter is folded before it is transformed back.
"""

import torch
from torch import Tensor


def moduli(spectrum: Tensor, bank: Tensor, scale: int, *, fine: bool) -> Tensor:
    """|x * psi(scale, t)| of signals with the given FFT, ... x n x n -> ... x angles x m x m.

    `bank` is scales x angles x pixels x pixels, complex. The grid has m = pixels / 2^(scale - 1)
    points if `fine`, which is enough for another FFT, else m = pixels / 2^scale; at most n.
    """
    n, pixels = spectrum.shape[-1], bank.shape[-1]
    band = min(n, pixels >> max(scale - 1, 0))
    product = _crop(spectrum, band)[..., None, :, :] * _crop(bank[scale], band)
    if not fine and band > pixels >> scale:
        product = _fold(product)
    # PyTorch takes the modulus of complex numbers one by one, fifteen times slower than this.
    parts = torch.view_as_real(torch.fft.ifft2(product))
    modulus = (parts[..., 0].square() + parts[..., 1].square()).sqrt_()
    return modulus.mul_((product.shape[-1] / n) ** 2)


def average(field: Tensor) -> Tensor:
    """The windowed mean over a field's last two axes."""
    n = field.shape[-1]
    place = (torch.arange(n, dtype=field.dtype) + 0.5) / n
    slope = (2 * torch.sin(torch.pi * place) ** 2).clamp(max=1)
    window = slope[:, None] * slope
    return field.flatten(-2) @ (window / window.sum()).flatten()


def _crop(spectrum: Tensor, n: int) -> Tensor:
    """Only the n lowest frequencies of each axis."""
    if spectrum.shape[-1] == n:
        return spectrum
    half = n // 2
    rows = torch.cat([spectrum[..., :half, :], spectrum[..., -half:, :]], dim=-2)
    return torch.cat([rows[..., :half], rows[..., -half:]], dim=-1)


def _fold(spectrum: Tensor) -> Tensor:
    """Four times the spectrum of every second pixel of each axis."""
    n = spectrum.shape[-1] // 2
    rows = spectrum[..., :n, :] + spectrum[..., n:, :]
    return rows[..., :n] + rows[..., n:]
