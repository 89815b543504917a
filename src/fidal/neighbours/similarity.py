"""Cosine similarity in blocks: S_ID and S_OOD (Eq. 4-5) and nearest neighbours."""

from collections.abc import Iterator
from typing import Final

import torch
from torch import Tensor

BLOCK: Final = 1024
"""Rows of one block, at most."""

ENTRIES: Final = 2**23
"""Of one block, at most: 32 MiB in float32."""


def unit(x: Tensor) -> Tensor:
    """Rows scaled to length one; a zero row stays zero, so its similarity to anything is 0."""
    norm = torch.linalg.vector_norm(x, dim=1, keepdim=True)
    return x / torch.where(norm > 0, norm, 1)


def products(candidates: Tensor, references: Tensor) -> Iterator[tuple[slice, Tensor]]:
    """Blocks of rows, and their inner products with all references: rows x m.

    A product may be written to and is gone with the next one, as all share one memory. Fresh memory
    for each would not only cost time: small results in between would pin it, block after block.
    """
    height = max(1, min(BLOCK, ENTRIES // max(len(references), 1)))
    memory = candidates.new_empty(min(height, len(candidates)), len(references))
    for start in range(0, len(candidates), height):
        rows = slice(start, min(start + height, len(candidates)))
        yield rows, torch.mm(candidates[rows], references.T, out=memory[: rows.stop - start])


def max_similarity(candidates: Tensor, references: Tensor) -> Tensor:
    """Eq. 4 and 5: max_j of f_i . f_j. In: unit rows, n x d and m x d. Out: n; 0 where m = 0."""
    found = candidates.new_zeros(len(candidates))
    if len(references):
        for rows, product in products(candidates, references):
            torch.amax(product, dim=1, out=found[rows])
    return found


def class_similarity(
    candidates: Tensor, references: Tensor, labels: Tensor, classes: int
) -> Tensor:
    """Eq. 4 class by class: max_j of f_i . f_j over the references of a class; -1, as far away as
    can be, for a class that has none. In: unit rows, n x d and m x d; m classes. Out: n x C.
    """
    found = candidates.new_full((len(candidates), classes), -1.0)
    of_class = [torch.nonzero(labels == c).squeeze(1) for c in range(classes)]
    for rows, product in products(candidates, references):
        for c, columns in enumerate(of_class):
            if len(columns):
                found[rows, c] = product[:, columns].amax(1)
    return found


def nearest(candidates: Tensor, references: Tensor, k: int) -> tuple[Tensor, Tensor]:
    """The k most similar references of each candidate, best first: similarities and rows, n x k."""
    values = candidates.new_empty(len(candidates), k)
    places = torch.empty(len(candidates), k, dtype=torch.int64, device=candidates.device)
    for rows, product in products(candidates, references):
        values[rows], places[rows] = product.topk(k, dim=1)
    return values, places
