"""k-means, and taking turns among its clusters.

Own code because scikit-learn stays on the CPU and seeds too dearly: at 20,000 x 512 and k = 500 its
`KMeans` needs 177 CPU seconds, of which its k-means++ 174; `k_means` needs about 3 and reaches a
slightly lower inertia.
"""

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor

from fidal.neighbours.seeding import squared_norms
from fidal.neighbours.similarity import products

SEED_ROWS = 4096
"""Seeds are sought among this many random rows: on all 20,000 they cost five times as much."""

TRIALS = 4
"""Candidates per seed. One, which is `seeding.d2_sampling`, leaves twice the inertia of four on 300
well-parted clumps: it puts two seeds into one clump and none into another."""


def k_means(
    x: Tensor, k: int, rng: np.random.Generator, iterations: int = 20
) -> tuple[Tensor, Tensor]:
    """Lloyd's k-means with k-means++ seeds. In: n x d. Out: min(k, n) centres, clusters 0..k-1 (n).

    A cluster that runs empty restarts at the row farthest from its centre, so clusters stay empty
    only where there are fewer distinct rows than clusters.
    """
    k = min(k, len(x))
    centres = x[_seeds(x, k, rng)]
    cost, assignment = _assign(x, centres)
    for _ in range(iterations):
        centres = _means(x, assignment, cost, k)
        before = assignment
        cost, assignment = _assign(x, centres)
        if torch.equal(assignment, before):
            break
    return centres, assignment


def turns(assignment: Tensor, score: Tensor) -> Tensor:
    """Each row's turn in its cluster: 0 for the highest score, 1 for the next, ... In and out: n.

    Ties go to the lower row. Sorting by turn takes one row per cluster, then a second of each, ...
    """
    by_score = torch.sort(score, descending=True, stable=True).indices
    clusters, within = torch.sort(assignment[by_score], stable=True)
    sizes = torch.bincount(clusters)
    first = (sizes.cumsum(0) - sizes)[clusters]
    turn = torch.empty_like(assignment)
    turn[by_score[within]] = torch.arange(len(score), device=score.device) - first
    return turn


def _seeds(x: Tensor, k: int, rng: np.random.Generator) -> Tensor:
    """Greedy k-means++: of TRIALS rows drawn with D^2 weights, the one that lowers sum D^2 most."""
    rows = torch.from_numpy(rng.permutation(len(x))[: max(SEED_ROWS, 4 * k)]).to(x.device)
    sample = x[rows]
    half_norm = sample.square().sum(1) / 2
    draws = torch.from_numpy(rng.random((k, TRIALS))).to(x.device)
    nearest = torch.full_like(half_norm, torch.inf)
    seeds = rows.new_empty(k)
    for i, draw in enumerate(draws):
        if i == 0:
            trials = (draw[:1] * len(rows)).long()
        else:
            mass = nearest.cumsum(0, dtype=torch.float64)
            trials = torch.searchsorted(mass, draw * mass[-1]).clamp_max(len(rows) - 1)
        halved = half_norm[trials, None] + half_norm - sample[trials] @ sample.T
        after = torch.minimum(halved.clamp_min(0), nearest)
        best = after.sum(1).argmin()
        nearest, seeds[i] = after[best], trials[best]
    return rows[seeds]


def _assign(x: Tensor, centres: Tensor) -> tuple[Tensor, Tensor]:
    """Nearest centre of each row: halved squared distance and cluster, n each."""
    half_norm = centres.square().sum(1) / 2
    cost, cluster = x.new_empty(len(x)), torch.empty(len(x), dtype=torch.int64, device=x.device)
    for rows, product in products(x, centres):
        cost[rows], cluster[rows] = product.neg_().add_(half_norm).min(1)
    return cost.add_(squared_norms(x) / 2), cluster


def _means(x: Tensor, assignment: Tensor, cost: Tensor, k: int) -> Tensor:
    """Means of the clusters, k x d; an empty one gets a row that lies farthest from its centre."""
    sizes = torch.bincount(assignment, minlength=k)
    order = torch.argsort(assignment, stable=True)
    # Unlike index_add_ it sums in a fixed order on a GPU, and on the CPU it takes half the time.
    means = F.embedding_bag(order, x, sizes.cumsum(0) - sizes, mode="mean")
    empty = (sizes == 0).nonzero().squeeze(1)
    means[empty] = x[cost.topk(len(empty)).indices]
    return means
