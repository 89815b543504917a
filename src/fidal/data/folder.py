"""folder: bring your own images. A manifest, an image root, and where the coverage comes from."""

from pathlib import Path
from typing import ClassVar, Literal

from pydantic import Field

from fidal.data.benchmark import Benchmark
from fidal.data.covered import Covered
from fidal.data.manifest import read_manifest, side_by_side, take
from fidal.data.manifest_checks import check_sites
from fidal.data.picture import Recipe
from fidal.data.pixels import decode


class Folder(Covered):
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
    quarantine: bool = Field(default=False, description="leave unreadable images out, and say so")
    allow_shared_groups: bool = Field(
        default=False, description="let a patient stand in both train and test"
    )

    def load(self, cache: Path) -> Benchmark:
        """Manifest, pixels and coverage of all readable images."""
        manifest = read_manifest(
            self.manifest, self.classes, allow_shared_groups=self.allow_shared_groups
        )
        manifest = take(manifest, side_by_side(manifest))
        root = self.manifest.parent if self.root is None else self.root
        files = [root / image for image in manifest.columns["image"].tolist()]
        recipe = Recipe(self.size, self.fit, self.bits)
        images = decode(manifest.ids, files, recipe, cache, quarantine=self.quarantine)
        manifest = take(manifest, images.rows)
        check_sites(manifest, self.manifest)
        return self.covered(manifest, images.pixels, cache)
