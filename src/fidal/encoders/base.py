"""What a frozen encoder g is: images in, one vector each out, and a name for what it does."""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from fidal.parts import Part


@dataclass(frozen=True)
class Card:
    """What a person wants to know of an encoder before fetching its weights."""

    dimension: str
    """e, the length of an embedding."""
    size: str
    """What an image becomes before the network sees it."""
    mean: str
    std: str
    licence: str
    """Of the weights, as their authors state it."""
    weights: str
    """Which file, and where it is."""


class Encoder(Part, ABC):
    """A frozen encoder. It is never trained here, so an image is encoded once and for all."""

    cards: ClassVar[Mapping[str, Card]] = {}
    """By model where the encoder has a field of that name, else one under ""."""
    keep: Literal["float32", "float16"] = Field(
        default="float32", description="how the cache keeps embeddings; float16 halves its size"
    )

    @property
    @abstractmethod
    def dimension(self) -> int:
        """e, the length of an embedding."""

    @property
    @abstractmethod
    def identity(self) -> str:
        """All that an embedding depends on besides the image, preprocessing included.

        Parameters, and a version or a hash of the weights: encoders of equal identity give equal
        embeddings up to the rounding of a device's arithmetic, and the cache relies on it.
        """

    @abstractmethod
    def encode(self, images: NDArray[np.uint8]) -> NDArray[np.float32]:
        """g(x). In: n x H x W x 3 or n x H x W x 1. Out: n x e, finite. Rows don't depend on one
        another."""

    def release(self) -> None:
        """Let go of the weights that `encode` keeps in memory between two calls."""


def check_images(encoder: Encoder, images: NDArray[np.uint8]) -> None:
    """Bytes, of one colour or three."""
    if images.dtype != np.uint8 or images.ndim != 4 or images.shape[3] not in (1, 3):
        raise ValueError(
            f"encoder '{encoder.name}' takes uint8 images, n x H x W x 3 or n x H x W x 1; got "
            f"{images.dtype} of shape {images.shape}"
        )
