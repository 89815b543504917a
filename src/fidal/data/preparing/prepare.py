"""Collected originals -> a prepared folder, over as many lives of a process as it takes."""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Final

import numpy as np

from fidal.data.benchmark import Manifest
from fidal.data.manifest import side_by_side, take, write_manifest
from fidal.data.manifest_checks import check_sites, shared_groups
from fidal.data.pixel_file import PixelFile
from fidal.data.pixels import Told, describe, fill, hash_of, prints_of
from fidal.data.preparing.collected import Collected, Collector
from fidal.data.preparing.record import (
    MANIFEST,
    PIXELS,
    RECORD,
    Quarantined,
    Record,
    manifest_digest,
    read_record,
    write_record,
)
from fidal.storage import hold, remove_leftovers, write_atomic
from fidal.types import OUTLIER

UNREADABLE: Final = "unreadable.txt"


def prepare(
    collector: Collector,
    collected: Collected,
    out: Path,
    *,
    quarantine: bool = False,
    told: Told = lambda done, n: None,
) -> Record:
    """Write the benchmark to `out`, go on with it where it stopped, or find it finished there.

    Images that cannot be read are one error that counts them and lists them in a file; with
    `quarantine` they are left out, and the record names them.
    """
    order = side_by_side(collected.manifest)
    manifest, render = take(collected.manifest, order), collected.render
    _check(collector.name, manifest)
    files = [collected.files[row] for row in order]
    images = manifest.columns["image"].tolist()
    prints = prints_of(images, files, render)
    origin = hash_of([collector.name, *manifest.ids, *prints])
    out.mkdir(parents=True, exist_ok=True)
    with hold(out):
        if (out / RECORD).exists():
            return _finished(out, origin)
        _claim(out)
        file = PixelFile(out / PIXELS, PIXELS, prints, render.shape)
        gaps = fill(file, files, render, told)
        _refuse(out, {images[row]: why for row, why in gaps.items()}, len(images), quarantine)
        kept = _with_digests(manifest, file.digests)
        check_sites(kept, out / MANIFEST)
        file.finish(gaps)
        write_manifest(kept, out / MANIFEST)
        record = Record(
            benchmark=collector.name,
            settings=collector.model_dump(mode="json"),
            classes=manifest.classes,
            shape=render.shape,
            origin=origin,
            manifest=manifest_digest(out),
            counts=collected.counts,
            missing=collected.missing,
            quarantined=tuple(_quarantined(manifest, row, why) for row, why in gaps.items()),
        )
        write_record(out, record)
        file.forget()
    return record


def _check(name: str, manifest: Manifest) -> None:
    """What a collector must not hand on, whatever it was given."""
    if not manifest.ids:
        raise ValueError(f"{name}: not one image is there; name the downloads' folders with --from")
    if len(set(manifest.ids)) < len(manifest.ids):
        again = len(manifest.ids) - len(set(manifest.ids))
        raise ValueError(f"{name}: {again} images have an id that another image has too")
    shared = shared_groups(manifest)
    if shared:
        raise ValueError(
            f"{name}: {len(shared)} patients stand in both train and test, first '{min(shared)}'; "
            "the metadata names them at two sites or in two splits: mend it there"
        )
    wrong = (manifest.label < OUTLIER) | (manifest.label >= len(manifest.classes))
    if wrong.any():
        raise ValueError(f"{name}: {int(wrong.sum())} images have a label outside the classes")


def _finished(out: Path, origin: str) -> Record:
    record = read_record(out)
    if record.origin != origin:
        raise ValueError(
            f"{out} holds {record.benchmark}, prepared from other files or with other settings; "
            "name an empty folder with --out, or remove that one"
        )
    return record


def _claim(out: Path) -> None:
    """An empty folder, or one with an unfinished benchmark."""
    remove_leftovers(out)
    own = {MANIFEST, PIXELS, UNREADABLE, "missing.txt"}
    others = [p.name for p in out.iterdir() if p.name not in own and not p.name.startswith(".")]
    if others:
        raise ValueError(
            f"{out} holds files that are not a benchmark's, e.g. '{min(others)}'; "
            "name an empty folder with --out"
        )


def _refuse(out: Path, unreadable: Mapping[str, str], n: int, quarantine: bool) -> None:
    listed = out / UNREADABLE
    if not unreadable:
        listed.unlink(missing_ok=True)
        return
    lines = [f"{image}\t{why}" for image, why in unreadable.items()]
    write_atomic(listed, "\n".join((*lines, "")).encode())
    if len(unreadable) == n:
        raise ValueError(f"{describe(unreadable, n)}; all are listed in {listed}")
    if not quarantine:
        raise ValueError(
            f"{describe(unreadable, n)}; all are listed in {listed}: replace them, or leave them "
            "out with --quarantine; the others stay done"
        )


def _with_digests(manifest: Manifest, digests: Mapping[int, str]) -> Manifest:
    """The rows that have pixels, in the order of the pixel file, each with a digest of its own."""
    rows = sorted(digests)
    kept = take(manifest, np.array(rows, dtype=np.int64))
    pixels = np.array([digests[row] for row in rows])
    return replace(kept, columns={**kept.columns, "pixels": pixels})


def _quarantined(manifest: Manifest, row: int, why: str) -> Quarantined:
    image, kind = (str(manifest.columns[name][row]) for name in ("image", "kind"))
    return Quarantined(image=image, site=str(manifest.site[row]), kind=kind, why=why)
