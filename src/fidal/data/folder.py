"""folder: bring your own images. A manifest, an image root, and where the coverage comes from."""

from pathlib import Path
from typing import Annotated, ClassVar, Literal, Self

import numpy as np
from numpy.typing import NDArray
from pydantic import BeforeValidator, Field, SerializeAsAny, model_validator

from fidal.data.benchmark import Benchmark, Manifest, Source
from fidal.data.embeddings import read_embeddings
from fidal.data.manifest import read_manifest, take
from fidal.data.manifest_checks import check_sites
from fidal.data.picture import Recipe
from fidal.data.pixels import decode
from fidal.encoders import ENCODERS
from fidal.encoders.base import Encoder
from fidal.encoders.cache import embed
from fidal.parts import by_name

AnyEncoder = Annotated[SerializeAsAny[Encoder], BeforeValidator(by_name("encoder", ENCODERS))]


class Folder(Source):
    """Images of your own, listed in a manifest (`manifest.py`), decoded by one rule."""

    name: ClassVar[str] = "folder"
    manifest: Path = Field(description="CSV or Parquet: image, site, split, label, ...")
    root: Path | None = Field(
        default=None, description="where the manifest's image paths begin; its own folder if unset"
    )
    classes: tuple[str, ...] = Field(
        default=(), description="the classes in order; empty: the labels found, sorted as text"
    )
    size: int = Field(default=224, ge=8, description="pixels of one edge")
    fit: Literal["crop", "pad"] = Field(
        default="crop", description="shorter edge to size and centre cut, or longer edge and black"
    )
    bits: int = Field(
        default=16, ge=8, le=16, description="bits that 16-bit grayscale files really use"
    )
    embeddings: Path | None = Field(
        default=None, description="precomputed coverage features: .npz or .safetensors with ids"
    )
    encoder: AnyEncoder | None = Field(
        default=None, description="or the encoder that computes them once, e.g. scattering"
    )
    quarantine: bool = Field(default=False, description="leave unreadable images out, and say so")
    allow_shared_groups: bool = Field(
        default=False, description="let a patient stand in both train and test"
    )

    @model_validator(mode="after")
    def _one_origin_of_coverage(self) -> Self:
        if self.embeddings is not None and self.encoder is not None:
            raise ValueError("give embeddings or encoder, not both: both are coverage features")
        return self

    def load(self, cache: Path) -> Benchmark:
        """Manifest, pixels and coverage of all readable images."""
        manifest = read_manifest(
            self.manifest, self.classes, allow_shared_groups=self.allow_shared_groups
        )
        manifest = take(manifest, _side_by_side(manifest))
        root = self.manifest.parent if self.root is None else self.root
        files = [root / image for image in manifest.columns["image"].tolist()]
        recipe = Recipe(self.size, self.fit, self.bits)
        images = decode(manifest.ids, files, recipe, cache, quarantine=self.quarantine)
        manifest = take(manifest, images.rows)
        check_sites(manifest, self.manifest)
        coverage = None
        if self.embeddings is not None:
            coverage = read_embeddings(self.embeddings, manifest.ids)
        if self.encoder is not None:
            coverage = embed(self.encoder, manifest.ids, images.pixels, cache)
        return Benchmark(self.name, manifest, images.pixels, coverage)


def _side_by_side(manifest: Manifest) -> NDArray[np.int64]:
    """Rows site by site, in the order of ids: so a site's pixels are one piece of the cache's file
    and stay on the disk until they are looked at.
    """
    place = {site: number for number, site in enumerate(manifest.sites)}
    keys = [(place[site], name) for site, name in zip(manifest.site, manifest.ids, strict=True)]
    return np.array(sorted(range(len(keys)), key=keys.__getitem__), dtype=np.int64)
