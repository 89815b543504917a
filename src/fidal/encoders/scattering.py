"""An encoder that needs no weights: wavelet scattering for texture, quantiles for colour."""

from functools import lru_cache
from typing import ClassVar, Final

import numpy as np
import torch
from numpy.typing import NDArray
from pydantic import Field
from torch import Tensor

from fidal.encoders.base import Encoder
from fidal.encoders.morlet import filter_bank
from fidal.encoders.wavelets import average, moduli

VERSION: Final = 1
"""Raise it when the numbers change: embeddings that are cached under another one are not used."""
BATCH: Final = 8
"""Images at once: more are no faster, because the second order no longer fits a core's cache."""
FLOOR: Final = 1e-3
"""Added before logarithms: a quarter of a grey level, so that black frames stay finite."""
QUANTILES: Final = (0.02, 0.25, 0.5, 0.75, 0.98)


class Scattering(Encoder):
    """Orders 0 to 2 of a scattering transform and colour statistics, in logarithms.

    Three channels: brightness, red less green, blue less yellow. Order 1 of each, its spread over
    the angles, and order 2 of the brightness by the angle between its two wavelets, relative to
    order 1: nothing depends on which way an image was turned by a multiple of 180 / angles degrees.

    Coordinates are in natural units, neither centred nor scaled by any data. The last one is the
    constant `anchor`, longer than the rest together: with it, rows that are scaled to unit length
    (as gates do) keep their distances almost as they are. Without, brightness and contrast would be
    lost, and how far an outlier lies from everything else.
    """

    name: ClassVar[str] = "scattering"
    scales: int = Field(default=4, ge=2, le=6, description="octaves of wavelets, from 2 pixels up")
    angles: int = Field(default=4, ge=2, le=16, description="directions of wavelets")
    anchor: float = Field(default=30.0, ge=0, description="constant last coordinate")

    @property
    def dimension(self) -> int:
        """e, 64 by default."""
        pairs = self.scales * (self.scales - 1) // 2
        order1, order2 = 3 * self.scales * 2, pairs * (self.angles // 2 + 1)
        return order1 + order2 + 3 * (len(QUANTILES) + 2) + 1

    @property
    def identity(self) -> str:
        """Name, version and parameters; there are no weights."""
        return f"{self.name} {VERSION} {self.model_dump_json()}"

    def encode(self, images: NDArray[np.uint8]) -> NDArray[np.float32]:
        """In: n x H x W x 3, H = W, a multiple of 2^scales. Out: n x e."""
        self._check(images)
        rows = np.empty((len(images), self.dimension), dtype=np.float32)
        with torch.no_grad():
            for start in range(0, len(images), BATCH):
                batch = torch.from_numpy(np.array(images[start : start + BATCH]))
                rows[start : start + BATCH] = self._embed(batch).numpy()
        return rows

    def _check(self, images: NDArray[np.uint8]) -> None:
        height, width = images.shape[1:3]
        if images.dtype != np.uint8 or images.shape[3:] != (3,):
            raise ValueError(
                f"encoder '{self.name}' takes uint8 images, n x H x W x 3; got {images.dtype} of "
                f"shape {images.shape}"
            )
        if height != width or height % 2**self.scales:
            raise ValueError(
                f"encoder '{self.name}' with {self.scales} scales takes square images whose size "
                f"is a multiple of {2**self.scales}; got {height} x {width}: resize, or set scales"
            )

    def _embed(self, images: Tensor) -> Tensor:
        channels = _opponent(images)
        bank = _bank(images.shape[1], self.scales, self.angles)
        order1, order2 = _scatter(channels, bank)
        anchor = channels.new_full((len(images), 1), self.anchor)
        return torch.cat([order1, order2, _colour(channels.flatten(2)), anchor], dim=1)


@lru_cache(maxsize=4)
def _bank(pixels: int, scales: int, angles: int) -> Tensor:
    # Complex, although it is real: a product of a complex and a real tensor is ten times slower.
    return filter_bank(pixels, scales, angles).to(torch.complex64)


def _opponent(images: Tensor) -> Tensor:
    """n x H x W x 3 bytes -> brightness, red - green, blue - yellow, n x 3 x H x W."""
    red, green, blue = (images.float() / 255).unbind(-1)
    return torch.stack([(red + green + blue) / 3, red - green, blue - (red + green) / 2], dim=1)


def _colour(channels: Tensor) -> Tensor:
    """Order 0 and how each channel spreads: mean, quantiles, log deviation, n x 21."""
    levels = torch.quantile(channels, channels.new_tensor(QUANTILES), dim=2).permute(1, 2, 0)
    # A change of colour by a quarter of the range counts as much as a contrast e times higher.
    absolute = 4 * torch.cat([channels.mean(2), levels.flatten(1)], dim=1)
    return torch.cat([absolute, (channels.std(2) + 10 * FLOOR).log()], dim=1)


def _scatter(channels: Tensor, bank: Tensor) -> tuple[Tensor, Tensor]:
    """Logarithms of order 1, n x 6 scales, and of order 2, n x pairs of scales (angles/2 + 1)."""
    spectrum = torch.fft.fft2(channels)
    order1, order2 = [], []
    for j in range(len(bank)):
        brightness = moduli(spectrum[:, :1], bank, j, fine=True)
        tints = moduli(spectrum[:, 1:], bank, j, fine=False)
        first = torch.cat([average(brightness), average(tints)], dim=1)
        mean = first.mean(2) + FLOOR
        order1 += [mean.log(), first.std(2) / mean]
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
