"""Embeddings on disk: computed once, in chunks, each in a file of its own.

A chunk's file is named after the hash of all that its embeddings depend on: the encoder's identity,
the ids, and every byte of the pixels, so that whatever was done to the images before is part of it.
Nothing can be stale, images added at the end leave the chunks before them valid, and a run that was
killed goes on at the chunk where it stopped. Files are zip archives with checksums; one that is
damaged is computed anew.
"""

import hashlib
import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Final

import numpy as np
from numpy.typing import NDArray

from fidal.arrays import keep, kept
from fidal.encoders.base import Encoder

CHUNK: Final = 256
"""Images of one file: what a killed run loses is the time of one of them."""

Rows = NDArray[np.float32]


def embed(
    encoder: Encoder,
    ids: Sequence[str],
    images: NDArray[np.uint8],
    cache: Path,
    progress: Callable[[int, int], None] | None = None,
) -> Rows:
    """g of every image, in order, N x e; what is not in `cache` yet is computed and kept there.

    `images` is N x H x W x 3, or x 1 which the encoder sees repeated to three, and may be
    memory-mapped; `progress(done, N)` is called after each chunk.
    """
    if len(ids) != len(images):
        raise ValueError(f"encoder '{encoder.name}': {len(ids)} ids for {len(images)} images")
    folder = cache / "embeddings" / encoder.name
    rows = np.empty((len(images), encoder.dimension), dtype=np.float32)
    for start in range(0, len(images), CHUNK):
        part = slice(start, start + CHUNK)
        rows[part] = _chunk(encoder, ids[part], np.ascontiguousarray(images[part]), folder)
        if progress is not None:
            progress(min(start + CHUNK, len(images)), len(images))
    return rows


def _chunk(encoder: Encoder, ids: Sequence[str], images: NDArray[np.uint8], folder: Path) -> Rows:
    path = folder / f"{_key(encoder, ids, images)}.npz"
    found = kept(path, (len(images), encoder.dimension), np.float32)
    if found is not None:
        return found
    gray = images.shape[3:] == (1,)
    rows = encoder.encode(images.repeat(3, axis=3) if gray else images)
    wrong = np.flatnonzero(~np.isfinite(rows).all(axis=1))
    if len(wrong):
        raise ValueError(
            f"encoder '{encoder.name}' gives NaN or infinite values for {len(wrong)} images, first "
            f"'{ids[wrong[0]]}'; leave them out or choose another encoder"
        )
    keep(path, rows)
    return rows


def _key(encoder: Encoder, ids: Sequence[str], images: NDArray[np.uint8]) -> str:
    head = json.dumps([encoder.identity, list(ids), images.shape, str(images.dtype)])
    key = hashlib.sha256(head.encode())
    key.update(images.data)
    return key.hexdigest()[:40]
