"""What the scattering encoder measures of an image: wavelet scattering for texture, and colours.

Coordinates are in natural units, neither centred nor scaled by any data: logarithms of contrasts,
and shares of the range of values. WEIGHT brings the small ones to the same size.
"""

from typing import Final

import torch
from torch import Tensor

from fidal.encoders.wavelets import average, moduli

FLOOR: Final = 1e-3
"""Added before logarithms: a quarter of a grey level, so that black frames stay finite."""
WEIGHT: Final = 4.0
"""A tint by a quarter of the range counts as much as a contrast e times higher."""
QUANTILES: Final = (0.02, 0.25, 0.5, 0.75, 0.98)


def length(scales: int, angles: int) -> int:
    """How many numbers describe an image: orders 1 and 2, and colours; 63 for 4 and 4."""
    pairs = scales * (scales - 1) // 2
    return 3 * scales * 2 + pairs * (angles // 2 + 1) + 3 * (len(QUANTILES) + 2)


def describe(images: Tensor, bank: Tensor) -> Tensor:
    """In: bytes, n x H x W x 3, and filters, scales x angles x H x W, complex. Out: n x length.

    Three channels: brightness, red less green, blue less yellow. Order 1 of each and its spread
    over the angles; order 2 of the brightness relative to order 1, by the angle between its two
    wavelets: a quarter turn or a mirror changes hardly anything. Then order 0 and the colours.
    """
    channels = _opponent(images)
    order1, order2 = _scatter(channels, bank)
    return torch.cat([order1, order2, _colours(channels.flatten(2))], dim=1)


def _opponent(images: Tensor) -> Tensor:
    """n x H x W x 3 bytes -> brightness, red - green, blue - yellow, n x 3 x H x W."""
    red, green, blue = (images.float() / 255).unbind(-1)
    return torch.stack([(red + green + blue) / 3, red - green, blue - (red + green) / 2], dim=1)


def _colours(channels: Tensor) -> Tensor:
    """Mean, quantiles and log deviation of each channel, n x 21."""
    levels = torch.quantile(channels, channels.new_tensor(QUANTILES), dim=2).permute(1, 2, 0)
    places = WEIGHT * torch.cat([channels.mean(2), levels.flatten(1)], dim=1)
    return torch.cat([places, (channels.std(2) + 10 * FLOOR).log()], dim=1)


def _scatter(channels: Tensor, bank: Tensor) -> tuple[Tensor, Tensor]:
    """Order 1, n x 6 scales, and order 2, n x pairs of scales (angles // 2 + 1)."""
    spectrum = torch.fft.fft2(channels)
    order1, order2 = [], []
    for j in range(len(bank)):
        brightness = moduli(spectrum[:, :1], bank, j, fine=True)
        tints = moduli(spectrum[:, 1:], bank, j, fine=False)
        first = torch.cat([average(brightness), average(tints)], dim=1)
        mean = first.mean(2) + FLOOR
        order1 += [mean.log(), WEIGHT * first.std(2) / mean]
        again = torch.fft.fft2(brightness[:, 0])
        for k in range(j + 1, len(bank)):
            second = _by_turn(average(moduli(again, bank, k, fine=False)))
            order2.append(((second + FLOOR / 10) / mean[:, :1]).log())
    return torch.cat(order1, dim=1), torch.cat(order2, dim=1)


def _by_turn(second: Tensor) -> Tensor:
    """Means over pairs of wavelets by the angle between them: n x L x L -> n x (L // 2 + 1)."""
    angles = second.shape[1]
    first = torch.arange(angles)
    by_turn = [second[:, first, (first + turn) % angles].mean(1) for turn in range(angles)]
    return torch.stack(
        [(by_turn[turn] + by_turn[-turn % angles]) / 2 for turn in range(angles // 2 + 1)], dim=1
    )
