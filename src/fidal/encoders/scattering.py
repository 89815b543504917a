"""An encoder that needs no weights: wavelet scattering and colours, through random cosines."""

from collections.abc import Mapping
from functools import lru_cache
from typing import ClassVar, Final

import numpy as np
import torch
from numpy.typing import NDArray
from pydantic import Field
from torch import Tensor

from fidal.encoders.base import Card, Encoder, check_images
from fidal.encoders.descriptor import describe, length
from fidal.encoders.morlet import filter_bank
from fidal.seeds import numpy_generator

VERSION: Final = 1
"""Raise it when the numbers change: embeddings that are cached under another one are not used."""
BATCH: Final = 2**15
"""Pixels at once, 8 images of 64 x 64: more are no faster, and no longer fit a core's cache."""


class Scattering(Encoder):
    """g(x) = sqrt(2 / e) cos(W d(x) / h + b), d the descriptor of `descriptor.py`.

    W is normal, b uniform on the circle, both frozen (Rahimi and Recht 2007): g(x) . g(y) is close
    to exp(-|d(x) - d(y)|^2 / 2 h^2). So embeddings are bounded and about of length one, like those
    of a foundation model. It matters: in d itself a black frame lies so far from everything that
    Otsu's threshold would refuse nothing else.
    """

    name: ClassVar[str] = "scattering"
    cards: ClassVar[Mapping[str, Card]] = {
        "": Card(
            dimension="512 (cosines)",
            size="as stored; square, a multiple of 2^scales",
            mean="none",
            std="none",
            licence="Apache-2.0",
            weights="none: it has no weights",
        )
    }
    scales: int = Field(default=4, ge=2, le=6, description="octaves of wavelets, from 2 pixels up")
    angles: int = Field(default=4, ge=2, le=16, description="directions of wavelets")
    bandwidth: float = Field(
        default=1.3, gt=0, description="h; images of one site and kind are about 2 apart"
    )
    cosines: int = Field(default=512, ge=1, description="length e of an embedding")

    @property
    def dimension(self) -> int:
        """E, the number of cosines."""
        return self.cosines

    @property
    def identity(self) -> str:
        """Name, version and parameters; there are no weights to hash."""
        return f"{self.name} {VERSION} {self.model_dump_json(exclude={'keep'})}"

    def encode(self, images: NDArray[np.uint8]) -> NDArray[np.float32]:
        """In: n x H x W x 3 or x 1, H = W, a multiple of 2^scales. Out: n x e."""
        self._check(images)
        bank = _bank(images.shape[1], self.scales, self.angles)
        W, b = _layer(length(self.scales, self.angles), self.cosines)
        rows = np.empty((len(images), self.cosines), dtype=np.float32)
        step = max(1, BATCH // images.shape[1] ** 2)
        with torch.no_grad():
            for start in range(0, len(images), step):
                batch = torch.from_numpy(np.array(images[start : start + step]))
                batch = batch.expand(-1, -1, -1, 3)
                phases = describe(batch, bank) @ W / self.bandwidth + b
                rows[start : start + step] = phases.cos().numpy()
        rows *= np.float32((2 / self.cosines) ** 0.5)
        return rows

    def _check(self, images: NDArray[np.uint8]) -> None:
        check_images(self, images)
        height, width = images.shape[1:3]
        if height != width or height % 2**self.scales:
            raise ValueError(
                f"encoder '{self.name}' with {self.scales} scales takes square images whose size "
                f"is a multiple of {2**self.scales}; got {height} x {width}: resize, or set scales"
            )


@lru_cache(maxsize=4)
def _bank(pixels: int, scales: int, angles: int) -> Tensor:
    # Complex, although it is real: a product of a complex and a real tensor is ten times slower.
    return filter_bank(pixels, scales, angles).to(torch.complex64)


@lru_cache(maxsize=4)
def _layer(inputs: int, cosines: int) -> tuple[Tensor, Tensor]:
    """W, inputs x cosines, and b, cosines."""
    generator = numpy_generator("scattering", VERSION)
    W = generator.standard_normal((inputs, cosines), dtype=np.float32)
    b = generator.uniform(0, 2 * np.pi, cosines).astype(np.float32)
    return torch.from_numpy(W), torch.from_numpy(b)
