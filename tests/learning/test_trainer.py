import numpy as np
import pytest
import torch

from fidal.learning.batches import TrainingSet
from fidal.learning.feed import Feed
from fidal.learning.inference import infer
from fidal.learning.networks import Architecture, build
from fidal.learning.objectives import OBJECTIVES
from fidal.learning.objectives.base import Optimiser
from fidal.learning.trainer import (
    Learner,
    Training,
    make_learner,
    train_round,
)

CPU = torch.device("cpu")


def made(n: int = 60) -> tuple[Feed, TrainingSet]:
    """Vectors of three far classes; rows 0-29 labelled, 30-39 outliers, the rest unlabelled."""
    rng = np.random.default_rng(0)
    labels = rng.integers(0, 3, n)
    vectors = (np.eye(3)[labels] * 4 + rng.normal(size=(n, 3)) * 0.3).astype(np.float32)
    rows = torch.arange(n)
    return Feed(vectors, CPU), TrainingSet(
        rows[:30], torch.from_numpy(labels[:30]), rows[30:40], rows[40:]
    )


def learner(objective: str = "cross-entropy", training: Training | None = None) -> Learner:
    chosen = OBJECTIVES[objective]()
    network = build(Architecture(kind="linear"), (3,), 3, chosen, seed=0)
    return make_learner(network, chosen, training or Training(optimiser=Optimiser(lr=0.05)))


@pytest.mark.parametrize("objective", list(OBJECTIVES))
def test_every_objective_learns_the_task(objective: str) -> None:
    feed, data = made()
    training = Training(optimiser=Optimiser(lr=0.05), batch_size=8, rounds=30)
    one = learner(objective, training)
    for step in range(30):
        loss = train_round(one, feed, data, training, step, torch.Generator().manual_seed(step))
    assert np.isfinite(loss)
    said = infer(one.network, feed, data.labelled).logits.argmax(1)
    assert float((said == data.labels).float().mean()) > 0.9


def test_training_is_a_function_of_its_generator() -> None:
    feed, data = made()
    ends = []
    for seed in (1, 1, 2):
        one = learner()
        train_round(one, feed, data, Training(), 0, torch.Generator().manual_seed(seed))
        ends.append(one.network.classifier.weight.detach().clone())
    assert torch.equal(ends[0], ends[1]) and not torch.equal(ends[0], ends[2])


def test_no_labelled_image_means_no_step() -> None:
    feed, data = made()
    none = TrainingSet(data.labelled[:0], data.labels[:0], data.outliers, data.unlabelled)
    one = learner()
    before = one.network.classifier.weight.detach().clone()
    assert np.isnan(train_round(one, feed, none, Training(), 0, torch.Generator()))
    assert torch.equal(before, one.network.classifier.weight)


def test_an_objective_s_own_optimiser_wins_and_its_schedule_counts_rounds() -> None:
    feed, data = made()
    training = Training(optimiser=Optimiser(lr=123.0), epochs=2)
    one = learner("eoal", training)
    wanted = one.objective.optimiser
    assert wanted is not None and wanted.step is not None
    rates = []
    for step in range(wanted.step + 1):
        train_round(one, feed, data, training, step, torch.Generator().manual_seed(step))
        rates.append(one.optimiser.param_groups[0]["lr"])
    assert set(rates[:-1]) == {wanted.lr}
    assert rates[-1] == pytest.approx(wanted.lr * wanted.gamma)


def test_epochs_are_epochs() -> None:
    """Two epochs from one generator are one epoch and then one more."""
    feed, data = made()
    once, twice = learner(), learner()
    draws = torch.Generator().manual_seed(4)
    for _ in range(2):
        train_round(once, feed, data, Training(epochs=1), 0, draws)
    train_round(twice, feed, data, Training(epochs=2), 0, torch.Generator().manual_seed(4))
    assert torch.equal(once.network.classifier.weight, twice.network.classifier.weight)
