"""FINCH: clusters without a parameter, from first neighbours (Sarfraz et al., CVPR 2019).

Join every point with its nearest neighbour; the connected components are the clusters. That links
a and b exactly if b is a's first neighbour, or a is b's, or both have the same one. Then repeat
with the clusters' means as points, until one cluster is left.

Neighbours are those of highest cosine similarity, as in FINCH's own code and in EOAL, which runs
it at its default: the norm of a penultimate feature says more about contrast than about content.
"""

from collections.abc import Iterator

import numpy as np
import torch
from scipy.sparse import csr_array
from scipy.sparse.csgraph import connected_components, minimum_spanning_tree
from torch import Tensor

from fidal.neighbours.similarity import BLOCK, unit


def partitions(features: Tensor) -> Iterator[Tensor]:
    """The hierarchy of clusterings, finest first. In: n x d. Out: labels 0..k-1, n, for each.

    Each is computed when it is asked for. Every cluster joins at least one other in each step, so
    k at least halves and the last partition is a single cluster.
    """
    labels = torch.arange(len(features), device=features.device)
    points = features
    while True:
        merged = _components(*first_neighbours(points))
        labels = merged.to(labels.device)[labels]
        yield labels
        points = cluster_means(features, labels)
        if len(points) == 1:
            return


def clusters(features: Tensor, count: int) -> Tensor:
    """The same hierarchy stopped at exactly min(count, n) clusters. In: n x d. Out: labels, n.

    In the step that would leave fewer, only the closest of the neighbours are joined. FINCH's own
    code joins one pair after the other and recomputes the means in between: the same answer but
    for rare chains, at a cost that explodes where a step collapses very many clusters.
    """
    labels = torch.arange(len(features), device=features.device)
    points = features
    while len(points) > count:
        merged = _components(*first_neighbours(points), at_least=count)
        labels = merged.to(labels.device)[labels]
        points = cluster_means(features, labels)
    return labels


def cluster_means(features: Tensor, labels: Tensor) -> Tensor:
    """Mean feature of each cluster. In: n x d and labels 0..k-1, n. Out: k x d."""
    sums = features.new_zeros(int(labels.max()) + 1, features.shape[1])
    sums.index_add_(0, labels, features)
    return sums / torch.bincount(labels).to(features)[:, None]


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

    for start in range(0, len(x), BLOCK):
        stop = min(start + BLOCK, len(x))
        # Similarity is symmetric: the upper triangle serves rows and columns at half the products.
        similarity = x[start:stop] @ x[start:].T
        similarity.diagonal().fill_(-torch.inf)
        for dim, end in ((1, stop), (0, len(x))):
            found, at = similarity.max(dim)
            update(start, end, found, at + start)
    return best, row


def _components(similarity: Tensor, neighbour: Tensor, at_least: int = 1) -> Tensor:
    """Components of the graph of first neighbours, without its longest edges if need be.

    Out: labels, n, on the CPU. If the graph has fewer than `at_least` components, the edges of
    lowest similarity are left out until it has as many.
    """
    n = len(neighbour)
    closest_first = torch.sort(similarity, descending=True, stable=True).indices.cpu().numpy()
    rank = np.empty(n)
    rank[closest_first] = np.arange(1, n + 1)
    graph = csr_array((rank, (np.arange(n), neighbour.cpu().numpy())), shape=(n, n))
    k, labels = connected_components(graph, directed=False)
    if k < at_least:
        forest = minimum_spanning_tree(graph)  # n - k edges: each one left out adds a component
        forest.data[forest.data > np.sort(forest.data)[n - at_least - 1]] = 0
        forest.eliminate_zeros()
        _, labels = connected_components(forest, directed=False)
    return torch.from_numpy(labels.astype(np.int64))
