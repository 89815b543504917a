"""One epoch of one site: which images, in which order, with which random numbers."""

from dataclasses import dataclass, replace

import torch
from torch import Tensor

from fidal.learning.augmentation import DRAWS
from fidal.learning.objectives.base import Batch, Objective
from fidal.types import OUTLIER, UNLABELLED


@dataclass(frozen=True, eq=False)
class TrainingSet:
    """Rows of a site's feed by what is known of them."""

    labelled: Tensor
    labels: Tensor
    outliers: Tensor
    unlabelled: Tensor


@dataclass(frozen=True, eq=False)
class Minibatch:
    """What one step is made of, but for the pixels."""

    rows: Tensor
    """n, int64, on the CPU: of the site's feed."""
    targets: Batch
    draw: Tensor | None
    """What `augment` makes of its images, 5 x n; None: nothing."""


def epoch(
    objective: Objective, data: TrainingSet, size: int, augment: bool, generator: torch.Generator
) -> list[Minibatch]:
    """Every labelled image once (and every outlier, if the objective wants them), in random order,
    each batch followed by its share of random unlabelled images.

    All is drawn from one generator on the CPU: the same on any device, captured or not.
    """
    rows, labels, own = [data.labelled], [data.labels], [torch.arange(len(data.labelled))]
    if objective.includes_outliers:
        rows.append(data.outliers)
        labels.append(torch.full_like(data.outliers, OUTLIER))
        own.append(torch.arange(len(data.outliers)))
    feed_rows, targets, own_rows = torch.cat(rows), torch.cat(labels), torch.cat(own)
    order = torch.randperm(len(feed_rows), generator=generator)
    if len(order) == 1:
        order = order.repeat(2)  # batch norm can't learn from one image, only from two views of it
    batches = []
    for part in torch.split(order, size):
        if len(part) == 1 < size:
            continue  # nor from a last batch of one; the next epoch shuffles anew
        extra = _unlabelled(objective.unlabelled_ratio * len(part), data.unlabelled, generator)
        batches.append(
            Minibatch(
                torch.cat([feed_rows[part], data.unlabelled[extra]]),
                Batch(
                    torch.cat([targets[part], torch.full_like(extra, UNLABELLED)]),
                    torch.cat([own_rows[part], extra]),
                ),
                draw=None,
            )
        )
    if not augment:
        return batches
    return [
        replace(batch, draw=torch.rand(DRAWS, len(batch.rows), generator=generator))
        for batch in batches
    ]


def moved(batches: list[Minibatch], device: torch.device) -> list[Minibatch]:
    """Targets and draws on the device, by one copy for the whole epoch."""
    if device.type == "cpu" or not batches:
        return batches
    sizes = [len(batch.rows) for batch in batches]
    targets = torch.cat([torch.stack([b.targets.labels, b.targets.rows]) for b in batches], 1)
    labels, own = targets.pin_memory().to(device, non_blocking=True)
    draws: list[Tensor | None] = [None] * len(batches)
    if batches[0].draw is not None:
        drawn = torch.cat([batch.draw for batch in batches if batch.draw is not None], 1)
        draws = list(torch.split(drawn.pin_memory().to(device, non_blocking=True), sizes, 1))
    each = zip(batches, torch.split(labels, sizes), torch.split(own, sizes), draws, strict=True)
    return [Minibatch(batch.rows, Batch(y, i), draw) for batch, y, i, draw in each]


def _unlabelled(count: int, pool: Tensor, generator: torch.Generator) -> Tensor:
    if count == 0 or len(pool) == 0:
        return torch.zeros(0, dtype=torch.int64)
    return torch.randint(len(pool), (count,), generator=generator)
