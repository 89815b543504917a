import math

import pytest
import torch

from fidal.encoders.morlet import FREQUENCY, filter_bank


def test_the_shape_is_scales_by_angles_by_frequencies() -> None:
    assert filter_bank(16, 3, 5).shape == (3, 5, 16, 16)


def test_every_wavelet_has_mean_zero() -> None:
    assert filter_bank(32, 4, 6)[:, :, 0, 0].abs().max() < 1e-15


@pytest.mark.parametrize("scale", [0, 1, 2, 3])
@pytest.mark.parametrize("angle", [0, 1, 2, 3])
def test_a_wavelet_answers_most_to_its_own_wave(scale: int, angle: int) -> None:
    pixels, angles = 128, 4
    response = filter_bank(pixels, 4, angles)[scale, angle]
    row, column = divmod(int(response.argmax()), pixels)
    omega = 2 * math.pi * torch.fft.fftfreq(pixels, dtype=torch.float64)
    found = torch.stack([omega[column], omega[row]])
    turn, frequency = math.pi * angle / angles, FREQUENCY / 2**scale
    expected = frequency * torch.tensor([math.cos(turn), math.sin(turn)], dtype=torch.float64)
    # Taking the mean away pushes the peak outwards by some 2 %.
    assert torch.linalg.vector_norm(found - expected) < 0.05 * frequency + 2 * math.pi / pixels


def test_in_space_it_is_a_wave_under_a_gaussian_less_a_gaussian() -> None:
    pixels, scale = 64, 2
    wavelet = torch.fft.ifft2(filter_bank(pixels, 3, 4)[scale, 0])
    sigma, xi = 0.8 * 2**scale, FREQUENCY / 2**scale
    beta = math.exp(-0.5 * (sigma * xi) ** 2)
    for y in (-5, 0, 3):
        for x in (-6, -1, 0, 2, 7):
            # With 4 angles the slant is 1: the envelope is round.
            envelope = math.exp(-0.5 * (x * x + y * y) / sigma**2) / (2 * math.pi * sigma**2)
            wave = complex(math.cos(xi * x), math.sin(xi * x))
            expected = envelope * (wave - beta)
            assert abs(complex(wavelet[y, x]) - expected) < 1e-10
