"""FedAvg: the mean of the sites' weights, each counted by its labelled ID images."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

import torch

from fidal.federation.messages import TrainReply, Weights
from fidal.federation.weights import check


class Average(Protocol):
    """What the coordinator makes of the sites' weights."""

    def __call__(self, replies: Sequence[TrainReply], fallback: Weights) -> Weights:
        """The new global weights; `fallback`, what was sent out, if there is nothing to average."""

    def spent(self) -> Mapping[str, float] | None:
        """What differential privacy has cost so far; None without it."""


@dataclass(frozen=True)
class FederatedAverage:
    """FedAvg."""

    def __call__(self, replies: Sequence[TrainReply], fallback: Weights) -> Weights:
        """See `federated_average`."""
        return federated_average(replies, fallback)

    def spent(self) -> None:
        """It protects nothing and costs nothing."""


def federated_average(replies: Sequence[TrainReply], fallback: Weights) -> Weights:
    """sum_k n_k w_k / sum_k n_k over everything in the state: batch-norm statistics are averaged
    like weights, integer counters are averaged here and rounded where they are unpacked.

    In: the sites' replies, in any order. Out: weights. With no labelled image anywhere there is
    nothing to average and `fallback`, what was sent out, stands.
    """
    # Sums of floats depend on their order; the order of the names does not depend on who was quick.
    behind = sorted((r for r in replies if r.n_labelled > 0), key=lambda r: r.site)
    if not behind:
        return fallback
    for reply in behind:
        try:
            check(reply.weights, against=fallback.specs)
        except ValueError as error:
            raise ValueError(
                f"site '{reply.site}': {error}; if its training diverged (loss {reply.loss:.3g}), "
                "lower training.optimiser.lr"
            ) from error
    total = sum(r.n_labelled for r in behind)
    # float64 keeps the mean of K equal weights equal to them; the buffer is the network's size.
    mean = torch.zeros_like(behind[0].weights.flat, dtype=torch.float64)
    for reply in behind:
        mean.add_(reply.weights.flat, alpha=reply.n_labelled / total)
    return Weights(fallback.specs, mean.to(torch.float32))
