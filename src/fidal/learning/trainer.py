"""Local training: what a step is, and E epochs of steps over one site's labelled images."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from typing import ClassVar, Literal

import torch
from pydantic import Field
from torch import Tensor, optim

from fidal.learning.augmentation import augment
from fidal.learning.batches import TrainingSet, epoch, moved
from fidal.learning.feed import Feed, decode
from fidal.learning.flat import Flat
from fidal.learning.graphs import Graphs
from fidal.learning.inference import infer
from fidal.learning.networks import Network
from fidal.learning.objectives.base import Companion, Context, Objective, Optimiser
from fidal.learning.optimisers import lower, make_capturable, make_optimiser, reset
from fidal.learning.precision import forward
from fidal.learning.running import Inputs, Plain, Runner
from fidal.parts import Part


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
class Learner:
    """What trains at a site. It is made once and restarted, in place, in each AL round."""

    network: Network
    state: Flat
    """The network's weights."""
    objective: Objective
    optimiser: optim.Optimizer
    settings: Optimiser
    companion: Companion | None
    run: Runner


def make_learner(
    network: Network, objective: Objective, training: Training, *, capture: bool = True
) -> Learner:
    """A learner with a fresh optimiser around a network, on the network's device."""
    settings = objective.optimiser or training.optimiser
    state = Flat(network)
    parameters = list(network.parameters())
    device = parameters[0].device
    optimiser = make_optimiser(settings, parameters)
    companion = objective.companion(network.classifier.out_features)
    if companion is not None:
        companion.module.to(device)
        make_capturable(companion.optimiser, device.type == "cuda")
    step = partial(descend, network, objective, optimiser, companion)
    run = Graphs(step, device, capture=capture) if device.type == "cuda" else Plain(step)
    return Learner(network, state, objective, optimiser, settings, companion, run)


def restart(learner: Learner, seed: int) -> None:
    """As it would be if made anew, in place: what was captured stays valid. The weights of the
    network are not touched, since a round loads them anyway.
    """
    reset(learner.optimiser)
    if learner.companion is None:
        return
    reset(learner.companion.optimiser)
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        fresh = learner.objective.companion(learner.network.classifier.out_features)
    assert fresh is not None
    learner.companion.module.load_state_dict(fresh.module.state_dict())


def descend(
    network: Network,
    objective: Objective,
    optimiser: optim.Optimizer,
    companion: Companion | None,
    inputs: Inputs,
    context: Context,
) -> Tensor:
    """One step of training. Out: the loss before it."""
    x = decode(inputs.x)
    if inputs.draw is not None:
        x = augment(x, inputs.draw)
    outputs = forward(network, x)
    if companion is not None:
        objective.update_companion(companion, network.heads, outputs, inputs.targets, context)
    loss = objective.loss(outputs, inputs.targets, context, companion)
    optimiser.zero_grad(set_to_none=True)
    loss.backward()  # type: ignore[no-untyped-call]
    optimiser.step()
    return loss.detach()


class LocalRound:
    """Communication round `step` at one site: E local epochs, advanced step by step."""

    def __init__(
        self,
        learner: Learner,
        feed: Feed,
        data: TrainingSet,
        training: Training,
        step: int,
        generator: torch.Generator,
    ) -> None:
        self.steps = 0
        """Taken so far."""
        self._learner, self._feed, self._data = learner, feed, data
        self._training, self._generator = training, generator
        self._loss = torch.full((), torch.nan)
        lower(learner.optimiser, learner.settings, step)
        learner.run.start(generator.initial_seed())
        self._running = self._epochs(step)

    def advance(self) -> bool:
        """Take the next step, on a GPU without waiting for it; False if there was none left."""
        with self._learner.run.apart():
            return next(self._running, False)

    def finish(self) -> float:
        """Wait for the last step. Out: the mean loss of the last epoch; NaN if no data."""
        self._learner.run.join()
        return float(self._loss)

    def _epochs(self, step: int) -> Iterator[bool]:
        if len(self._data.labelled) == 0:
            return
        for _ in range(self._training.epochs):
            yield from self._epoch(step)

    def _epoch(self, step: int) -> Iterator[bool]:
        learner, feed = self._learner, self._feed
        context = _context(learner, feed, self._data, self._training, step)
        augmented = self._training.augment and len(feed.shape) == 3
        size, generator = self._training.batch_size, self._generator
        batches = epoch(learner.objective, self._data, size, augmented, generator)
        batches = moved(batches, feed.device)
        learner.network.train()
        total = torch.zeros((), device=feed.device)
        pixels = feed.batches([batch.rows for batch in batches])
        for batch, x in zip(batches, pixels, strict=True):
            total += learner.run(Inputs(x, batch.targets, batch.draw), context)
            self.steps += 1
            yield True
        self._loss = total / len(batches)


def train_round(
    learner: Learner,
    feed: Feed,
    data: TrainingSet,
    training: Training,
    step: int,
    generator: torch.Generator,
) -> float:
    """Communication round `step` at one site alone. Out: mean loss of the last epoch; NaN if no
    data."""
    local = LocalRound(learner, feed, data, training, step, generator)
    while local.advance():
        pass
    return local.finish()


def _context(
    learner: Learner, feed: Feed, data: TrainingSet, training: Training, step: int
) -> Context:
    classes = learner.network.classifier.out_features
    state: Mapping[str, Tensor] = {}
    if learner.objective.needs_epoch_features and len(data.outliers):
        known = infer(learner.network, feed, data.outliers).features
        state = learner.objective.begin_epoch(known, classes)
    return Context(
        class_counts=torch.bincount(data.labels, minlength=classes).float().to(feed.device),
        n_outliers=len(data.outliers),
        round=torch.full((), step, dtype=torch.float64, device=feed.device),
        rounds=training.rounds,
        state={name: _roomy(x, len(feed)) for name, x in state.items()},
    )


def _roomy(x: Tensor, room: int) -> Tensor:
    """A vector with room for as many outliers as the site may ever have: one shape, one graph."""
    if x.ndim != 1:
        return x
    wide = x.new_zeros(room)
    wide[: len(x)] = x
    return wide
