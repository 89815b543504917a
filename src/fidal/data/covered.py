"""What is computed from images: coverage features, prompts; and what the network sees of them."""

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Literal, Self

import numpy as np
from numpy.typing import NDArray
from pydantic import BeforeValidator, Field, SerializeAsAny, model_validator

from fidal.data.benchmark import Benchmark, Manifest, Source
from fidal.data.embeddings import read_embeddings
from fidal.data.prompts import AnyPrompts
from fidal.encoders import ENCODERS
from fidal.encoders.base import Encoder
from fidal.encoders.cache import embed
from fidal.parts import by_name

AnyEncoder = Annotated[SerializeAsAny[Encoder], BeforeValidator(by_name("encoder", ENCODERS))]


class Covered(Source):
    """A source of images with coverage features from a file or from an encoder, or without."""

    embeddings: Path | None = Field(
        default=None, description="precomputed coverage features: .npz or .safetensors with ids"
    )
    encoder: AnyEncoder | None = Field(
        default=None, description="or the encoder that computes them once, e.g. scattering"
    )
    view: Literal["images", "embeddings"] = Field(
        default="images",
        description="what the network sees: images, or the coverage features (linear probe)",
    )
    prompts: AnyPrompts | None = Field(
        default=None,
        description="sentences that OpenPath compares images with: fedisic, fedcamelyon, fedembed "
        "or a TOML file; a table to say where BiomedCLIP's weights are",
    )

    @model_validator(mode="after")
    def _one_origin_of_coverage(self) -> Self:
        if self.embeddings is not None and self.encoder is not None:
            raise ValueError("give embeddings or encoder, not both: both are coverage features")
        if self.view == "embeddings" and self.embeddings is None and self.encoder is None:
            raise ValueError("view: there are no embeddings to see; give embeddings or encoder")
        return self

    def covered(self, manifest: Manifest, pixels: NDArray[np.uint8], cache: Path) -> Benchmark:
        """The benchmark of these images."""
        ids = manifest.ids
        coverage = self._coverage(ids, pixels, cache)
        prompts = None if self.prompts is None else self.prompts.scores(ids, pixels, cache)
        if self.view == "embeddings":
            assert coverage is not None
            return Benchmark(self.name, manifest, coverage, coverage, prompts)
        return Benchmark(self.name, manifest, pixels, coverage, prompts)

    def bare(self) -> Self:
        """See the base class."""
        none = {"view": "images", "embeddings": None, "encoder": None, "prompts": None}
        return self.model_copy(update=none)

    def _coverage(
        self, ids: Sequence[str], pixels: NDArray[np.uint8], cache: Path
    ) -> NDArray[np.float32] | None:
        if self.embeddings is not None:
            return read_embeddings(self.embeddings, ids)
        if self.encoder is not None:
            return embed(self.encoder, ids, pixels, cache)
        return None
