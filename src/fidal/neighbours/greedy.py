"""One by one: a batch in which each pick counts as labelled for the next."""

from typing import Final

import torch
from torch import Tensor

AHEAD: Final = 32
"""Rows whose similarities are computed at once: a single product is bound by memory."""


def one_by_one(
    score: Tensor, slope: Tensor, similarity: Tensor, features: Tensor, budget: int
) -> Tensor:
    """Again and again the row of the largest score, which falls as S grows by the rows chosen.

    After each pick S_i = max(S_i, f_i . f_pick) and score_i falls by slope_i times its growth. In:
    score, slope >= 0 and S, n each; unit rows, n x d. A score of minus infinity is never chosen.
    Out: at most `budget` distinct rows in the order of choice; of equal scores the lower row first.
    """
    score, similarity = score.clone(), similarity.clone()
    chosen: list[int] = []
    ahead: dict[int, Tensor] = {}
    while len(chosen) < budget:
        row = int(score.argmax())
        if torch.isneginf(score[row]):
            break
        if row not in ahead:
            rows = score.topk(min(AHEAD, len(score))).indices
            rows = torch.cat([rows.new_tensor([row]), rows[rows != row]])
            ahead = dict(zip(rows.tolist(), features[rows] @ features.T, strict=True))
        chosen.append(row)
        grown = torch.maximum(similarity, ahead[row])
        score -= slope * (grown - similarity)
        similarity = grown
        score[row] = -torch.inf
    return torch.tensor(chosen, dtype=torch.int64, device=score.device)
