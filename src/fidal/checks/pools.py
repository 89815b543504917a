"""Pools made for checks and tests: a few Gaussian classes, far outliers, known ground truth."""

from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from fidal.types import Labelled, Outliers, Pool, Prompts


@dataclass(frozen=True)
class Made:
    """A pool with the truth that a strategy must not see."""

    pool: Pool
    is_outlier: Tensor


def make_pool(
    n: int = 120,
    *,
    n_labelled: int = 40,
    n_outliers: int = 15,
    classes: int = 4,
    width: int = 16,
    coverage_width: int = 24,
    ood_share: float = 0.35,
    distance: float = 6.0,
    dtype: torch.dtype = torch.float32,
    seed: int = 0,
    site: str = "clinic-a",
) -> Made:
    """Candidates in random order of ids; outliers sit `distance` spreads away in both spaces."""
    rng = np.random.default_rng(seed)
    means = rng.normal(size=(classes, width)) * 2.0
    coverage_means = rng.normal(size=(classes, coverage_width)) * 0.5
    away, coverage_away = rng.normal(size=width), rng.normal(size=coverage_width)
    away *= distance / np.linalg.norm(away)
    coverage_away *= distance / np.linalg.norm(coverage_away) * np.sqrt(coverage_width) / 3

    def draw(labels: np.ndarray) -> tuple[Tensor, Tensor]:
        known = labels.clip(0)
        h = means[known] + rng.normal(size=(len(labels), width))
        g = coverage_means[known] + rng.normal(size=(len(labels), coverage_width))
        outlier = labels < 0
        h[outlier] += away
        g[outlier] += coverage_away
        return torch.from_numpy(np.abs(h)).to(dtype), torch.from_numpy(g).to(dtype)

    labels = rng.integers(0, classes, n)
    labels[rng.random(n) < ood_share] = -1
    known = rng.integers(0, classes, n_labelled)
    h, g = draw(labels)
    h_id, g_id = draw(known)
    h_ood, g_ood = draw(np.full(n_outliers, -1))
    weight = torch.from_numpy(rng.normal(size=(width, classes))).to(dtype)
    local = weight + 0.3 * torch.from_numpy(rng.normal(size=(width, classes))).to(dtype)
    prompts = torch.from_numpy(rng.normal(size=(n, 2 * classes))).to(dtype)
    prompts[torch.from_numpy(labels < 0), classes:] += 2.0

    def more(columns: int) -> Tensor:
        return h @ torch.from_numpy(rng.normal(size=(width, columns)) / 4).to(dtype)

    pool = Pool(
        site=site,
        round=1,
        ids=tuple(f"img-{i:05d}" for i in rng.permutation(n)),
        global_logits=h @ weight,
        local_logits=h @ local,
        features=h,
        global_features=(h * 1.1 + 0.05),
        coverage=g,
        labelled=Labelled(h_id, torch.from_numpy(known), g_id, h_id * 1.1 + 0.05),
        outliers=Outliers(h_ood, g_ood),
        prompts=Prompts(prompts, (True,) * classes + (False,) * classes),
        outputs={
            "detector": more(classes + 1),
            "binary": more(2 * classes),
            "meta": more(classes + 1),
            "open": more(2 * (classes + 1)),
            "weight": torch.sigmoid(more(1)),
            "spatial": torch.cat([h, h**2], 1),
        },
    )
    return Made(pool, torch.from_numpy(labels < 0))
