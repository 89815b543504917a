"""Embeddings on disk: computed once, in chunks, each in a file of its own.

A chunk's file is named after the hash of all that its embeddings depend on: the encoder's identity,
the ids, and every byte of the pixels (`digests.py`), so that whatever was done to the images before
is part of it. Nothing can be stale, images added at the end leave the chunks before them valid, and
a run that was killed goes on at the chunk where it stopped. Files are zip archives with checksums;
one that is damaged is computed anew.
"""

import hashlib
import json
import logging
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Final

import numpy as np
from numpy.typing import NDArray

from fidal.arrays import keep, kept
from fidal.encoders.base import Encoder
from fidal.encoders.digests import digest_of, recall, remember
from fidal.encoders.progress import Progress, Told, sometimes

log = logging.getLogger(__name__)

CHUNK: Final = 256
"""Images of one file: what a killed run loses is the time of one of them."""

OTHER: Final = "leave them out or choose another encoder"

Rows = NDArray[np.float32]


def embed(
    encoder: Encoder,
    ids: Sequence[str],
    images: NDArray[np.uint8],
    cache: Path,
    told: Told | None = None,
) -> Rows:
    """g of every image, in order, N x e; what is not in `cache` yet is computed and kept there.

    `images` is N x H x W x 3 or x 1 and may be memory-mapped; `told` hears of each
    chunk; without it the log does, every ten seconds.
    """
    if len(ids) != len(images):
        raise ValueError(f"encoder '{encoder.name}': {len(ids)} ids for {len(images)} images")
    try:
        return _embed(encoder, ids, images, cache, told or sometimes(encoder.name, log.info))
    finally:
        encoder.release()


def _embed(
    encoder: Encoder, ids: Sequence[str], images: NDArray[np.uint8], cache: Path, told: Told
) -> Rows:
    folder, identity, n = cache / "embeddings" / encoder.name, encoder.identity, len(images)
    rows = np.empty((n, encoder.dimension), dtype=np.float32)
    known, digests = recall(images, CHUNK, cache), []
    computed, seconds = 0, 0.0
    for number, start in enumerate(range(0, n, CHUNK)):
        part = slice(start, start + CHUNK)
        digests.append(known[number] if known else digest_of(images[part]))
        path = folder / f"{_key(identity, encoder.keep, ids[part], digests[-1])}.npz"
        found = kept(path, rows[part].shape, np.dtype(encoder.keep).type)
        if found is None:
            begun = time.perf_counter()
            found = _compute(encoder, ids[part], images[part])
            keep(path, found)
            computed, seconds = computed + len(found), seconds + time.perf_counter() - begun
        rows[part] = found
        told(Progress(min(start + CHUNK, n), n, computed, seconds))
    if not known:
        remember(images, digests, CHUNK, cache)
    return rows


def _compute(
    encoder: Encoder, ids: Sequence[str], images: NDArray[np.uint8]
) -> NDArray[np.floating]:
    """g of one chunk as it is kept; finite, of the declared length."""
    rows = encoder.encode(np.ascontiguousarray(images))
    if rows.shape != (len(images), encoder.dimension):
        raise ValueError(
            f"encoder '{encoder.name}' gives rows of shape {rows.shape} for {len(images)} images "
            f"and declares {encoder.dimension} numbers each; its dimension is wrong"
        )
    _refuse(encoder, ids, ~np.isfinite(rows), "gives NaN or infinite values", OTHER)
    with np.errstate(over="ignore"):
        small = rows.astype(encoder.keep)
    _refuse(encoder, ids, ~np.isfinite(small), "gives values beyond 65,504", 'set keep = "float32"')
    return small


def _refuse(
    encoder: Encoder, ids: Sequence[str], wrong: NDArray[np.bool_], what: str, way_out: str
) -> None:
    rows = np.flatnonzero(wrong.any(axis=1))
    if len(rows):
        raise ValueError(
            f"encoder '{encoder.name}' {what} for {len(rows)} images, first '{ids[rows[0]]}'; "
            f"{way_out}"
        )


def _key(identity: str, kept_as: str, ids: Sequence[str], digest: str) -> str:
    content = json.dumps([identity, kept_as, list(ids), digest])
    return hashlib.sha256(content.encode()).hexdigest()[:40]
