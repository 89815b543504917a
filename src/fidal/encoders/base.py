"""What a frozen encoder g is: images in, one vector each out, and a name for what it does."""

from abc import ABC, abstractmethod

import numpy as np
from numpy.typing import NDArray

from fidal.parts import Part


class Encoder(Part, ABC):
    """A frozen encoder. It is never trained here, so an image is encoded once and for all."""

    @property
    @abstractmethod
    def dimension(self) -> int:
        """e, the length of an embedding."""

    @property
    @abstractmethod
    def identity(self) -> str:
        """All that an embedding depends on besides the image, preprocessing included.

        Parameters, and a version or a hash of the weights: encoders of equal identity give equal
        embeddings, and the cache relies on it.
        """

    @abstractmethod
    def encode(self, images: NDArray[np.uint8]) -> NDArray[np.float32]:
        """g(x). In: n x H x W x 3. Out: n x e, finite. Rows don't depend on one another."""
