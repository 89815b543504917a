"""FEAL's diversity relaxation: skip a candidate that stands close to one already taken."""

import torch
from torch import Tensor

VISITED = 256
"""Candidates whose neighbours are found by one matrix product, ahead of the walk."""


def relax(
    features: Tensor, order: Tensor, budget: int, neighbours: int, cosine: float
) -> tuple[Tensor, int]:
    """Walk in `order` and take i unless one of its neighbours N_i has been taken, up to `budget`.

    N_i are the `neighbours` candidates most similar to i above `cosine`. Where there are fewer, the
    point is sparse and taken anyway: that clause is in FEAL's code. A candidate is no neighbour of
    itself; the code drops the most similar row instead, which may be a duplicate.

    In: unit rows, n x d; rows in order of merit, n. Out: the rows taken, in that order, and how
    many rows were visited. Fewer than `budget` rows if the walk came to its end.
    """
    taken: dict[int, None] = {}
    visited = 0
    for rows in torch.split(order, VISITED):
        crowds = _crowds(features, rows, neighbours, cosine)
        for row, crowd in zip(rows.tolist(), crowds, strict=True):
            if len(taken) == budget:
                return order.new_tensor(list(taken)), visited
            visited += 1
            if taken.keys().isdisjoint(crowd):
                taken[row] = None
    return order.new_tensor(list(taken)), visited


def _crowds(features: Tensor, rows: Tensor, neighbours: int, cosine: float) -> list[list[int]]:
    """N_i of each row; empty where fewer than `neighbours` candidates exceed `cosine`."""
    if len(features) <= neighbours:
        return [[] for _ in rows]
    similarity = features[rows] @ features.T
    similarity.scatter_(1, rows[:, None], -torch.inf)
    values, near = similarity.topk(neighbours, dim=1)
    dense = (values[:, -1] > cosine).tolist()
    return [group if full else [] for group, full in zip(near.tolist(), dense, strict=True)]
