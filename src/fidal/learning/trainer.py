"""Local training: E epochs over one site's labelled images."""

from dataclasses import dataclass
from typing import ClassVar, Literal

import torch
from pydantic import Field
from torch import Tensor, optim

from fidal.learning.augmentation import augment
from fidal.learning.feed import Feed
from fidal.learning.networks import Network
from fidal.learning.objectives.base import Batch, Companion, Context, Objective, Optimiser
from fidal.parts import Part
from fidal.types import OUTLIER, UNLABELLED


class Training(Part):
    """How a federation trains between two queries."""

    name: ClassVar[str] = "training"
    rounds: int = Field(default=20, ge=1, description="T: communication rounds per AL round")
    epochs: int = Field(default=1, ge=1, description="E: local epochs per communication round")
    batch_size: int = Field(default=32, ge=1)
    optimiser: Optimiser = Field(
        default=Optimiser(lr=5e-4), description="unless the strategy's objective brings its own"
    )
    reinitialise: bool = Field(
        default=True, description="a fresh network in each AL round, or go on from the last"
    )
    augment: bool = Field(default=True, description="images only: flips, rotation, light")
    device: Literal["auto", "cpu", "cuda"] = Field(default="auto", description="auto: GPU if any")


@dataclass(frozen=True, eq=False)
class TrainingSet:
    """Rows of a site's feed by what is known of them."""

    labelled: Tensor
    labels: Tensor
    outliers: Tensor
    unlabelled: Tensor


@dataclass(frozen=True, eq=False)
class Learner:
    """What lives at a site while one AL round trains: network, optimisers, companion."""

    network: Network
    objective: Objective
    optimiser: optim.Optimizer
    schedule: optim.lr_scheduler.LRScheduler | None
    companion: Companion | None


def make_learner(network: Network, objective: Objective, training: Training) -> Learner:
    """A learner with fresh optimisers around a network."""
    wanted = objective.optimiser or training.optimiser
    parameters = list(network.parameters())
    optimiser: optim.Optimizer
    if wanted.kind == "adamw":
        optimiser = optim.AdamW(parameters, lr=wanted.lr, weight_decay=wanted.weight_decay)
    else:
        optimiser = optim.SGD(
            parameters, lr=wanted.lr, momentum=wanted.momentum, weight_decay=wanted.weight_decay
        )
    schedule = (
        optim.lr_scheduler.StepLR(optimiser, wanted.step, wanted.gamma) if wanted.step else None
    )
    classes = network.classifier.out_features
    companion = objective.companion(classes)
    if companion is not None:
        companion.module.to(parameters[0].device)
    return Learner(network, objective, optimiser, schedule, companion)


def train_round(
    learner: Learner,
    feed: Feed,
    data: TrainingSet,
    training: Training,
    step: int,
    generator: torch.Generator,
) -> float:
    """E local epochs of communication round `step`. Out: mean loss of the last; NaN if no data."""
    loss = float("nan")
    if len(data.labelled) == 0:
        return loss
    for _ in range(training.epochs):
        loss = _epoch(learner, feed, data, training, step, generator)
    if learner.schedule is not None:
        learner.schedule.step()
    return loss


def _epoch(
    learner: Learner,
    feed: Feed,
    data: TrainingSet,
    training: Training,
    step: int,
    generator: torch.Generator,
) -> float:
    context = _context(learner, feed, data, training, step)
    learner.network.train()
    total, steps = torch.zeros((), device=feed.device), 0
    for feed_rows, batch in _batches(learner.objective, data, training.batch_size, generator):
        x = feed.take(feed_rows)
        if training.augment and x.ndim == 4:
            x = augment(x, generator)
        total += _step(learner, x, batch, context)
        steps += 1
    return float(total) / steps


def _step(learner: Learner, x: Tensor, batch: Batch, context: Context) -> Tensor:
    network, objective, companion = learner.network, learner.objective, learner.companion
    batch = Batch(batch.labels.to(x.device), batch.rows.to(x.device))
    outputs = network(x)
    if companion is not None:
        objective.update_companion(companion, network.heads, outputs, batch, context)
    loss = objective.loss(outputs, batch, context, companion)
    learner.optimiser.zero_grad(set_to_none=True)
    loss.backward()  # type: ignore[no-untyped-call]
    learner.optimiser.step()
    return loss.detach()


def _context(
    learner: Learner, feed: Feed, data: TrainingSet, training: Training, step: int
) -> Context:
    classes = learner.network.classifier.out_features
    state = {}
    if learner.objective.needs_epoch_features and len(data.outliers):
        known = _features(learner.network, feed, data.outliers)
        state = dict(learner.objective.begin_epoch(known, classes))
    return Context(
        class_counts=torch.bincount(data.labels, minlength=classes).float().to(feed.device),
        n_outliers=len(data.outliers),
        round=step,
        rounds=training.rounds,
        state=state,
    )


def _features(network: Network, feed: Feed, rows: Tensor) -> Tensor:
    network.eval()
    with torch.no_grad():
        return torch.cat([network(feed.take(part)).features for part in torch.split(rows, 256)])


def _batches(
    objective: Objective, data: TrainingSet, size: int, generator: torch.Generator
) -> list[tuple[Tensor, Batch]]:
    """One epoch: every labelled image once (and every outlier, if the objective wants them), in
    random order, each batch followed by its share of random unlabelled images.
    """
    rows, labels, own = [data.labelled], [data.labels], [torch.arange(len(data.labelled))]
    if objective.includes_outliers:
        rows.append(data.outliers)
        labels.append(torch.full_like(data.outliers, OUTLIER))
        own.append(torch.arange(len(data.outliers)))
    feed_rows, targets, own_rows = torch.cat(rows), torch.cat(labels), torch.cat(own)
    order = torch.randperm(len(feed_rows), generator=generator)
    batches = []
    for part in torch.split(order, size):
        if len(part) == 1 < min(size, len(order)):
            continue  # batch norm can't learn from one image; the next epoch shuffles anew
        extra = _unlabelled(objective.unlabelled_ratio * len(part), data.unlabelled, generator)
        batches.append(
            (
                torch.cat([feed_rows[part], data.unlabelled[extra]]),
                Batch(
                    torch.cat([targets[part], torch.full_like(extra, UNLABELLED)]),
                    torch.cat([own_rows[part], extra]),
                ),
            )
        )
    return batches


def _unlabelled(count: int, pool: Tensor, generator: torch.Generator) -> Tensor:
    if count == 0 or len(pool) == 0:
        return torch.zeros(0, dtype=torch.int64)
    return torch.randint(len(pool), (count,), generator=generator)
