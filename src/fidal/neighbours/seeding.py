"""Seeds that spread over a set: k-means++ sampling and greedy k-centre.

Both need, seed after seed, the distances of all n points to the newest seed. One such product is
bound by memory, and thirty-two at once cost little more than two. So both compute ahead of time the
distances to likely next seeds. That changes only the time: what is chosen is what the textbook's
one-by-one algorithm chooses.
"""

from collections.abc import Callable
from typing import Final

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

Distances = Callable[[Tensor], Tensor]
"""From m rows (int64, CPU) to their squared distances to all n points, m x n, none negative."""

AHEAD: Final = 32
"""Seeds whose distances are computed at once: 500 of 20,000 x 512 take 0.5 CPU s; singly, 2.9."""


def d2_sampling(first: int, distances: Distances, count: int, rng: np.random.Generator) -> Tensor:
    """k-means++ seeding without Lloyd's steps (Arthur & Vassilvitskii, SODA 2007).

    In: the first seed. Out: `count` distinct rows, int64 on the CPU, in order of choice. The
    probability of a next seed is proportional to its squared distance to the nearest seed so far.
    Where all these are zero, the remaining seeds are uniform among the rows not chosen yet.

    Proposals are drawn by the distances as they stand. Each is then accepted with the probability
    to which the seeds accepted meanwhile have reduced its distance: the law stays exactly the same.
    """
    chosen = [first]
    nearest = distances(torch.tensor([first]))[0].clone()
    nearest[first] = 0
    while len(chosen) < count:
        weight = nearest.to("cpu", torch.float64, copy=True).numpy()
        if not weight.any():
            rest = np.setdiff1d(np.arange(len(weight)), chosen)
            chosen += rng.permutation(rest)[: count - len(chosen)].tolist()
            break
        proposed = _draw(weight, min(AHEAD, count - len(chosen)), rng)
        for row, distance in zip(proposed, distances(torch.tensor(proposed)), strict=True):
            if rng.random() * weight[row] < float(nearest[row]):
                chosen.append(row)
                nearest = torch.minimum(nearest, distance)
                nearest[row] = 0
    return torch.tensor(chosen)


def k_centre(nearest: Tensor, distances: Distances, count: int) -> Tensor:
    """Greedy k-centre (Gonzalez, 1985): again and again the point farthest from its centre.

    In: squared distance of each point to the nearest centre there already is, n; infinite where
    there is none. Out: `count` distinct rows, int64 on the CPU, in order of choice; of equally far
    points the first.
    """
    chosen: list[int] = []
    ahead: dict[int, Tensor] = {}
    nearest = nearest.clone()
    while len(chosen) < count:
        row = int(nearest.argmax())
        if row not in ahead:
            farthest = nearest.argsort(descending=True, stable=True)
            rows = farthest[: min(AHEAD, count - len(chosen))].cpu()
            ahead = dict(zip(rows.tolist(), distances(rows), strict=True))
        chosen.append(row)
        nearest = torch.minimum(nearest, ahead[row])
        nearest[row] = -1  # never again, even where all that is left coincides with a centre
    return torch.tensor(chosen)


def squared_norms(x: Tensor) -> Tensor:
    """|x_i|^2, n, without a copy of x on the way."""
    norm: Tensor = torch.linalg.vector_norm(x, dim=1)
    return norm.square()


def _draw(weight: NDArray[np.float64], count: int, rng: np.random.Generator) -> list[int]:
    """`count` independent rows, with probabilities proportional to `weight`."""
    cumulative = np.cumsum(weight)
    rows = np.searchsorted(cumulative, rng.random(count) * cumulative[-1], side="right")
    last = np.searchsorted(cumulative, cumulative[-1])  # a draw may round up to the very end
    return [int(row) for row in np.minimum(rows, last)]
