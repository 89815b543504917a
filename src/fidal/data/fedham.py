"""fedham: four dermoscopy sites of HAM10000 as clients, smartphone photos as their outliers.

The sites are FLamby's centres 1, 2, 3 (the 2nd to 4th client of the paper's FedISIC, image for
image) and 5; the outliers are the 1,378 photos of PAD-UFES-20. The files lie in $FIDAL_DATA.
Licences: HAM10000 CC BY-NC 4.0 (cite Tschandl 2018), PAD-UFES-20 CC BY 4.0 (cite Pacheco 2020).

How an OOD share is reached: FLamby's 8,012 training images and all 1,378 photos make 14.7 %. Above
that, all photos are used and the training images are cut at random, every site and every class in
it keeping its proportion to the nearest whole image; below it, all training images are used and
only a part of the photos. Photos go to the sites in proportion to their ID training images and to
what their share asks for, the photos of one patient side by side. Test images are all of FLamby's,
never cut, never outliers.
"""

import hashlib
import itertools
import zipfile
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any, ClassVar, Final, Literal, Self, get_args

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from fidal.data.benchmark import TEST, TRAIN, Benchmark, DataAbsent, Manifest, Source, data_folder
from fidal.data.injection import counts_for_shares, cut, random_order
from fidal.data.manifest import take
from fidal.data.picture import Recipe
from fidal.data.pixels import decode
from fidal.data.prompts import AnyPrompts
from fidal.parts import nearest
from fidal.types import OUTLIER

Class = Literal["MEL", "NV", "BCC", "AK", "BKL", "DF", "VASC", "SCC"]
CLASSES: Final = get_args(Class)
Site = Literal["vidir_molemax", "vidir_modern", "rosendahl", "vienna_dias"]
SITES: Final = get_args(Site)
Share = Annotated[float, Field(ge=0, le=0.9)]
HAM: Final = "ham10000_fed4_128.npz"
PAD: Final = "pad_ufes20_clinical_128.npz"
SSCD: Final = "sscd_embeddings_224.npz"
SIZE: Final = 128
VALIDATE: Final = 3
"""One training image of so many validates."""
NEITHER: Final = ""
_IMAGES = ("image", "offset", "id")
COLUMNS: Final = {
    HAM: (*_IMAGES, "group", "target", "fold", "dx", "dx_type", "site"),
    PAD: (*_IMAGES, "patient", "diagnostic", "fitzpatrick"),
    SSCD: ("ham_id", "ham_sscd", "pad_id", "pad_sscd"),
}

Arrays = Mapping[str, NDArray[Any]]


class FedHam(Source):
    """HAM10000's four sites with PAD-UFES-20 as OOD; SSCD embeddings as coverage features."""

    name: ClassVar[str] = "fedham"
    view: Literal["images", "embeddings"] = Field(
        default="images",
        description="what the network sees: 128-pixel images, or SSCD vectors (linear probe)",
    )
    ood_share: Share | dict[Site, Share] = Field(
        default=0.30, description="share of OOD in the training pool, of all sites or site by site"
    )
    ood_from: int = Field(default=0, ge=0, description="query round in which the OOD images arrive")
    lacking: dict[Site, tuple[Class, ...]] = Field(
        default={}, description="classes of which a site's training pool has no image"
    )
    split: Literal["flamby", "lesion", "validation"] = Field(
        default="flamby",
        description="FLamby's, by image, as in the paper; or lesion-disjoint: the same test "
        "images, without the training images of a lesion that is also in the test; or, to choose "
        "settings unseen by the test, a third of the training images in its place",
    )
    sites: tuple[Site, ...] = Field(
        default=SITES, min_length=1, description="which of the four take part"
    )
    seed: int = Field(default=0, ge=0, description="which random subset is cut, or validates")
    prompts: AnyPrompts | None = Field(
        default=None, description="sentences that OpenPath compares images with, e.g. fedisic"
    )

    def load(self, cache: Path) -> Benchmark:
        """Manifest, inputs of the chosen view, and coverage, of the images that take part."""
        ham, pad, sscd = _read(HAM), _read(PAD), _read(SSCD)
        _check_order(ham, pad, sscd)
        whole = _everything(ham, pad)
        if self.split == "validation":
            whole = _validation(whole, self.seed)
        rows, site = self._choose(whole)
        since = np.where(whole.label == OUTLIER, self.ood_from, 0)
        manifest = take(replace(whole, site=site, since=since if self.ood_from else None), rows)
        vectors = np.concatenate([sscd["ham_sscd"], sscd["pad_sscd"]])[rows].astype(np.float32)
        if self.view == "embeddings" and self.prompts is None:
            return Benchmark(self.name, manifest, inputs=vectors, coverage=vectors)
        files = [*_files(ham), *_files(pad)]
        images = decode(manifest.ids, [files[row] for row in rows], Recipe(SIZE), cache).pixels
        said = None if self.prompts is None else self.prompts.scores(manifest.ids, images, cache)
        inputs = images if self.view == "images" else vectors
        return Benchmark(self.name, manifest, inputs, vectors, said)

    def bare(self) -> Self:
        """See the base class."""
        return self.model_copy(update={"view": "images", "prompts": None})

    def _choose(self, whole: Manifest) -> tuple[NDArray[np.int64], NDArray[np.str_]]:
        """Rows that take part, and the site of every row of `whole`, where photos have none yet."""
        here = np.isin(whole.site, self.sites)
        outlier, test = whole.label == OUTLIER, here & (whole.split == TEST)
        pool = here & (whole.split == TRAIN) & ~self._left_out(whole, test)
        own = [np.flatnonzero(pool & (whole.site == name)) for name in self.sites]
        shares = [self._share(name) for name in self.sites]
        n_id, n_ood = counts_for_shares([len(rows) for rows in own], int(outlier.sum()), shares)
        kept = [
            cut(rows, n, (whole.label,), whole.ids, self.seed)
            for rows, n in zip(own, n_id, strict=True)
        ]
        photos = np.flatnonzero(outlier)
        patients = whole.columns["patient"][photos].tolist()
        photos = photos[random_order(patients, self.seed)[: sum(n_ood)]]
        site = whole.site.astype(np.array(SITES).dtype)
        site[photos] = np.repeat(self.sites, n_ood)
        rows = np.concatenate([*kept, np.flatnonzero(test), photos])
        # A site's images lie side by side on disk, in the order of ids, which says nothing of them.
        order = sorted(rows.tolist(), key=lambda row: (SITES.index(site[row]), whole.ids[row]))
        return np.array(order, dtype=np.int64), site

    def _left_out(self, whole: Manifest, test: NDArray[np.bool_]) -> NDArray[np.bool_]:
        """Training images that a lesion-disjoint split, or a site that lacks a class, has not."""
        out = np.zeros_like(test)
        if self.split == "lesion" and whole.group is not None:
            out |= np.isin(whole.group, whole.group[test])
        for name, classes in self.lacking.items():
            absent = [CLASSES.index(each) for each in classes]
            out |= (whole.site == name) & np.isin(whole.label, absent)
        return out

    def _share(self, site: Site) -> float:
        if not isinstance(self.ood_share, dict):
            return self.ood_share
        if site not in self.ood_share:
            raise ValueError(f"fedham: ood_share has no entry for site '{site}'; add it")
        return self.ood_share[site]


def _everything(ham: Arrays, pad: Arrays) -> Manifest:
    """All images in the order of the files; photos are in training and have no site yet."""
    n, m = len(ham["id"]), len(pad["id"])
    names = np.concatenate([ham["id"], pad["id"]])
    none, nothing = np.full(n, ""), np.full(m, "")
    return Manifest(
        classes=CLASSES,
        ids=tuple(_neutral(name) for name in names.tolist()),
        site=np.concatenate([ham["site"], nothing]),
        split=np.concatenate([ham["fold"], np.full(m, TRAIN)]),
        label=np.concatenate([ham["target"], np.full(m, OUTLIER)]).astype(np.int64),
        group=np.concatenate([ham["group"], pad["patient"]]),
        columns={
            "image": names,
            "kind": np.repeat(["id", "pad"], [n, m]),
            "dx": np.concatenate([ham["dx"], pad["diagnostic"]]),
            "dx_type": np.concatenate([ham["dx_type"], nothing]),
            "patient": np.concatenate([none, pad["patient"]]),
            "fitzpatrick": np.concatenate([none, pad["fitzpatrick"]]),
        },
    )


def _validation(whole: Manifest, seed: int) -> Manifest:
    """A random third of the training images in place of FLamby's test, by image like that one."""
    own = np.flatnonzero((whole.split == TRAIN) & (whole.label != OUTLIER))
    order = random_order([f"validation {whole.ids[row]}" for row in own], seed)
    split = np.where(whole.split == TEST, NEITHER, whole.split)
    split[own[order[: len(own) // VALIDATE]]] = TEST
    return replace(whole, split=split)


def _neutral(name: str) -> str:
    """An id that does not tell where an image comes from: ISIC_... sorts before PAT_..., and
    strategies break ties in the order of ids. The original is in the column `image`."""
    return hashlib.blake2b(name.encode(), digest_size=6).hexdigest()


def _files(archive: Arrays) -> list[bytes]:
    """The WebP files, which lie one after another in one array."""
    image, offset = archive["image"], archive["offset"]
    return [image[a:b].tobytes() for a, b in itertools.pairwise(offset.tolist())]


def _read(file: str) -> Arrays:
    path = data_folder() / file
    if not path.is_file():
        raise DataAbsent(
            f"fedham needs '{file}', which is not in {path.parent.absolute()}: HAM10000 in "
            f"FLamby's four sites ({HAM}), PAD-UFES-20 photos ({PAD}) and the SSCD embeddings of "
            f"both ({SSCD}); set the environment variable FIDAL_DATA to the folder that holds them"
        )
    try:
        with np.load(path, allow_pickle=False) as archive:
            arrays = {name: archive[name] for name in archive.files}
    except (ValueError, OSError, EOFError, zipfile.BadZipFile) as error:
        raise ValueError(f"{path}: not a readable .npz file: {error}") from None
    absent = [name for name in COLUMNS[file] if name not in arrays]
    if absent:
        raise ValueError(f"{path}: array '{absent[0]}' is missing; {nearest(absent[0], arrays)}")
    return arrays


def _check_order(ham: Arrays, pad: Arrays, sscd: Arrays) -> None:
    for file, images, ids in ((HAM, ham, "ham_id"), (PAD, pad, "pad_id")):
        if not np.array_equal(images["id"], sscd[ids]):
            raise ValueError(
                f"fedham: '{ids}' of {SSCD} and 'id' of {file} differ; they must list the same "
                "images in the same order: take all files from the same place"
            )
