"""FINCH: clusters without a parameter, from first neighbours (Sarfraz et al., CVPR 2019).

Join every point with its nearest neighbour; the connected components are the clusters. That links
a and b exactly if b is a's first neighbour, or a is b's, or both have the same one. Then repeat
with the clusters' means as points, until one cluster is left.

Neighbours are those of highest cosine similarity, the default of FINCH's own code, at which EOAL
runs it.
"""

from collections.abc import Iterator

import numpy as np
import torch
import torch.nn.functional as F
from scipy.sparse import csr_array
from scipy.sparse.csgraph import connected_components
from torch import Tensor

from fidal.neighbours.similarity import BLOCK, ENTRIES, unit


def partitions(features: Tensor) -> Iterator[Tensor]:
    """The hierarchy of clusterings, finest first. In: n x d. Out: labels 0..k-1, n, for each.

    Each is computed when it is asked for. Every cluster joins at least one other in each step, so
    k at least halves and the last partition is a single cluster.
    """
    labels = torch.arange(len(features), device=features.device)
    points = features
    while True:
        _, neighbour = first_neighbours(points)
        labels = _components(neighbour)[labels]
        yield labels
        points = cluster_means(features, labels)
        if len(points) == 1:
            return


def clusters(features: Tensor, count: int) -> Tensor:
    """FINCH's Algorithm 2, at most `count` clusters. In: n x d. Out: labels 0..k-1, n.

    From the coarsest partition with at least `count` clusters the two of most similar means are
    joined, one pair after the other. Where the first partition has fewer it is the answer: what
    FINCH has joined is never taken apart. (FINCH's own code fails there.)
    """
    hierarchy = partitions(features)
    labels = next(hierarchy)
    for coarser in hierarchy:
        if int(coarser.max()) + 1 < count:
            break
        labels = coarser
    means = cluster_means(features, labels)
    while len(means) > count:
        similarity, neighbour = first_neighbours(means)
        one = int(similarity.argmax())
        keep, drop = sorted((one, int(neighbour[one])))
        labels = torch.where(labels == drop, keep, labels)
        labels = labels - (labels > drop).long()
        means = cluster_means(features, labels)
    return labels


def cluster_means(features: Tensor, labels: Tensor) -> Tensor:
    """Mean feature of each cluster. In: n x d and labels 0..k-1, n. Out: k x d."""
    sizes = torch.bincount(labels)
    order = torch.argsort(labels, stable=True)
    # Unlike index_add_ it sums in a fixed order on a GPU.
    sums = F.embedding_bag(order, features, sizes.cumsum(0) - sizes, mode="sum")
    return sums / sizes.to(features)[:, None]


def first_neighbours(points: Tensor) -> tuple[Tensor, Tensor]:
    """Cosine similarity to the nearest other point, and its row. In: n x d. Out: two of n.

    A single point is its own neighbour.
    """
    x = unit(points)
    best = x.new_full((len(x),), -torch.inf)
    row = torch.zeros(len(x), dtype=torch.int64, device=x.device)

    def update(start: int, stop: int, found: Tensor, at: Tensor) -> None:
        better = found > best[start:stop]
        best[start:stop] = torch.where(better, found, best[start:stop])
        row[start:stop] = torch.where(better, at, row[start:stop])

    height = max(1, min(BLOCK, ENTRIES // len(x)))
    memory = x.new_empty(height * len(x))
    for start in range(0, len(x), height):
        stop = min(start + height, len(x))
        # Similarity is symmetric: the upper triangle serves rows and columns at half the products.
        similarity = memory[: (stop - start) * (len(x) - start)].view(stop - start, -1)
        torch.mm(x[start:stop], x[start:].T, out=similarity)
        similarity.diagonal().fill_(-torch.inf)
        for dim, end in ((1, stop), (0, len(x))):
            found, at = similarity.max(dim)
            update(start, end, found, at + start)
    return best, row


def _components(neighbour: Tensor) -> Tensor:
    """Labels 0..k-1 of the components of the graph whose edges lead from i to neighbour[i]."""
    n = len(neighbour)
    ends = (np.arange(n), neighbour.cpu().numpy())
    _, labels = connected_components(csr_array((np.ones(n), ends), shape=(n, n)), directed=False)
    return torch.from_numpy(labels).to(neighbour)
