"""A pool made on the device that selects, like the one that `selection_arrays.py` writes down."""

import torch
from torch import Tensor

from fidal.neighbours.similarity import unit
from fidal.types import Labelled, Outliers, Pool

CLUMPS = 6


def made(
    candidates: int, labelled: int, width: int, device: str = "cuda", classes: int = 8
) -> Pool:
    """Rectified clumps of each class and of one more kind, unit rows, float32."""
    torch.manual_seed(0)
    n, foreign = candidates + labelled + labelled // 2, candidates + labelled
    kinds = torch.randint(classes + 1, (n,), device=device)
    kinds[candidates:foreign] %= classes
    kinds[foreign:] = classes
    parts = (candidates, labelled, labelled // 2)
    features, coverage = (space(kinds, width, classes) for _ in range(2))
    u, f_id, f_ood = (x.clone() for x in torch.split(features, parts))
    g, g_id, g_ood = (x.clone() for x in torch.split(coverage, parts))
    labels = kinds[candidates:foreign].clone()
    means = torch.stack([f_id[labels == c].mean(0) for c in range(classes)])
    weight = 30 * (means - means.mean(0)).T
    local = weight + torch.randn_like(weight) * weight.abs().mean()
    return Pool(
        site="benchmark",
        round=1,
        ids=tuple(f"{i:07d}" for i in range(candidates)),
        global_logits=u @ weight,
        local_logits=u @ local,
        features=u,
        global_features=u,
        coverage=g,
        labelled=Labelled(f_id, labels, g_id, f_id),
        outliers=Outliers(f_ood, g_ood),
    )


def space(kinds: Tensor, width: int, classes: int) -> Tensor:
    """One row per kind."""
    device = kinds.device
    middle = 0.5 * torch.randn(classes + 1, 1, width, device=device)
    clumps = middle + torch.randn(classes + 1, CLUMPS, width, device=device)
    spread = torch.randn(24, width, device=device) / 8
    halving = -torch.rand(len(kinds), device=device).clamp_min(1e-3).log2()
    clump = halving.long().clamp_max(CLUMPS - 1)
    x = torch.empty(len(kinds), width, device=device)
    for start in range(0, len(kinds), 20_000):
        rows = slice(start, start + 20_000)
        block = clumps[kinds[rows], clump[rows]]
        block += torch.randn(len(block), 24, device=device) @ spread
        block += 0.2 * torch.randn(len(block), width, device=device)
        x[rows] = unit(block.clamp_min_(0))
    return x
