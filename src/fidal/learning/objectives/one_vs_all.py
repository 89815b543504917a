"""One binary classifier per class ("is it c, or not?"), shared by EOAL and PAL."""

import torch
import torch.nn.functional as F
from torch import Tensor


def log_probabilities(logits: Tensor) -> Tensor:
    """n x 2K -> n x 2 x K: [:, 1, c] = log p_c(1), "is class c"; [:, 0, c] = log p_c(0)."""
    return F.log_softmax(torch.unflatten(logits, 1, (2, -1)), dim=1)


def one_vs_all_loss(logits: Tensor, target: Tensor) -> Tensor:
    """-log p_y(1) + max_{c != y} -log p_c(0): the own class and the hardest other one.

    In: n x 2K; targets 0..K-1, n; a negative target is left out. Out: the mean; zero without any.
    """
    log_p = log_probabilities(logits)
    known = target >= 0
    own = F.one_hot(target.clamp_min(0), log_p.shape[2]).bool()
    positive = -log_p[:, 1].masked_fill(~own, 0).sum(1)
    hardest = (-log_p[:, 0]).masked_fill(own, 0).amax(1)  # -log p >= 0, so 0 never wins wrongly
    return (positive + hardest).masked_fill(~known, 0).sum() / known.sum().clamp_min(1)


def binary_entropy(logits: Tensor) -> Tensor:
    """mean_c of -sum_b p_c(b) log p_c(b), in nats. In: n x 2K. Out: n, in [0, ln 2]."""
    log_p = log_probabilities(logits)
    return -(log_p.exp() * log_p).sum(1).mean(1)
