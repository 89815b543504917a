"""Cosine similarity in blocks: S_ID and S_OOD (Eq. 4-5) and nearest neighbours."""

import torch
from torch import Tensor

BLOCK = 1024
"""Rows of one block: a block x reference product stays in tens of MiB at 20,000 references."""


def unit(x: Tensor) -> Tensor:
    """Rows scaled to length one; a zero row stays zero, so its similarity to anything is 0."""
    norm = torch.linalg.vector_norm(x, dim=1, keepdim=True)
    return x / torch.where(norm > 0, norm, 1)


def max_similarity(candidates: Tensor, references: Tensor) -> Tensor:
    """Eq. 4 and 5: max_j of f_i . f_j. In: unit rows, n x d and m x d. Out: n; 0 where m = 0."""
    if len(references) == 0:
        return candidates.new_zeros(len(candidates))
    return torch.cat([(block @ references.T).amax(1) for block in torch.split(candidates, BLOCK)])


def nearest(candidates: Tensor, references: Tensor, k: int) -> tuple[Tensor, Tensor]:
    """The k most similar references of each candidate, best first: similarities and rows, n x k."""
    found = [(block @ references.T).topk(k, dim=1) for block in torch.split(candidates, BLOCK)]
    return torch.cat([f.values for f in found]), torch.cat([f.indices for f in found])
