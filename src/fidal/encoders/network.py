"""Encoders that are PyTorch networks: weights in memory while they are needed, batches, devices."""

from abc import abstractmethod
from functools import lru_cache
from typing import Final

import numpy as np
import torch
from numpy.typing import NDArray
from pydantic import Field
from torch import Tensor, nn

from fidal.encoders.base import Encoder, check_images
from fidal.encoders.preparation import Preparation

PIXELS: Final = {"cpu": 16 * 224**2, "cuda": 128 * 224**2}
"""At once. On a CPU more are slower: the system spends its time on clearing memory."""


class NetworkEncoder(Encoder):
    """A network with frozen weights, float32 on a CPU and mixed float16 on a GPU."""

    batch: int | None = Field(
        default=None,
        ge=1,
        description="images at once, fewer need less memory; unset: as many as have the pixels of "
        "16 of 224 x 224 on a CPU, of 128 on a GPU",
    )

    @property
    @abstractmethod
    def preparation(self) -> Preparation:
        """What is done to an image before the network sees it."""

    @property
    @abstractmethod
    def weights(self) -> str:
        """A hash of the weights, and of all else that tells two networks apart."""

    @abstractmethod
    def network(self) -> nn.Module:
        """The network with its weights: n x 3 x H x W, prepared -> n x e."""

    @property
    def identity(self) -> str:
        """Name, preparation and weights; not the batch, which changes nothing."""
        return f"{self.name} {self.preparation!r} {self.weights}"

    def encode(self, images: NDArray[np.uint8]) -> NDArray[np.float32]:
        """In: n x H x W x 3 or n x H x W x 1. Out: n x e."""
        check_images(self, images)
        network, preparation = _loaded(self, self.identity), self.preparation
        rows = np.empty((len(images), self.dimension), dtype=np.float32)
        step = self.batch or max(1, PIXELS[device().type] // self._seen(images))
        for start in range(0, len(images), step):
            part = slice(start, start + step)
            pixels = torch.from_numpy(np.array(images[part])).to(device())
            with torch.inference_mode():
                seen = preparation(pixels).contiguous(memory_format=torch.channels_last)
                rows[part] = forward(network, seen).cpu().numpy()
        return rows

    def _seen(self, images: NDArray[np.uint8]) -> int:
        """Pixels of an image as the network sees it."""
        size = self.preparation.size
        return images.shape[1] * images.shape[2] if size is None else size**2

    def release(self) -> None:
        """See the base class."""
        _loaded.cache_clear()


def device() -> torch.device:
    """A GPU where there is one."""
    return torch.device("cuda" if torch.cuda.is_available() else "cpu")


def forward(network: nn.Module, x: Tensor) -> Tensor:
    """Mixed precision on a GPU. Where float16 overflows (at 65,504), once more in float32."""
    if not x.is_cuda:
        rows: Tensor = network(x)
        return rows
    with torch.autocast("cuda", dtype=torch.float16):
        rows = network(x).float()
    return rows if bool(rows.isfinite().all()) else network(x)


@lru_cache(maxsize=1)
def _loaded(encoder: NetworkEncoder, identity: str) -> nn.Module:
    # `identity` is an argument so that weights that changed on the disk are read again.
    # Convolutions are a quarter faster with channels last, transformers no slower.
    network = encoder.network().eval().requires_grad_(False)
    return network.to(memory_format=torch.channels_last).to(device())
