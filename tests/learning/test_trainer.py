import numpy as np
import pytest
import torch

from fidal.learning.augmentation import augment
from fidal.learning.feed import Feed
from fidal.learning.inference import infer
from fidal.learning.networks import Architecture, build
from fidal.learning.objectives import OBJECTIVES
from fidal.learning.objectives.base import Optimiser
from fidal.learning.trainer import (
    Learner,
    Training,
    TrainingSet,
    _batches,
    make_learner,
    train_round,
)
from fidal.types import OUTLIER, UNLABELLED

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


def test_an_epoch_shows_every_labelled_image_once() -> None:
    _, data = made()
    batches = _batches(OBJECTIVES["cross-entropy"](), data, 8, torch.Generator().manual_seed(0))
    assert sorted(torch.cat([rows for rows, _ in batches]).tolist()) == list(range(30))
    for rows, batch in batches:
        assert torch.equal(batch.labels, data.labels[rows])


def test_objectives_that_ask_for_outliers_and_unlabelled_images_get_them() -> None:
    _, data = made()
    pal = OBJECTIVES["pal"]()
    batches = _batches(pal, data, 8, torch.Generator().manual_seed(0))
    labels = torch.cat([batch.labels for _, batch in batches])
    rows = torch.cat([rows for rows, _ in batches])
    known = int((labels != UNLABELLED).sum())
    assert known == 40 and int((labels == UNLABELLED).sum()) == pal.unlabelled_ratio * known
    assert sorted(rows[labels == OUTLIER].tolist()) == list(range(30, 40))
    assert bool((rows[labels == UNLABELLED] >= 40).all())


def test_no_labelled_image_means_no_step() -> None:
    feed, data = made()
    none = TrainingSet(data.labelled[:0], data.labels[:0], data.outliers, data.unlabelled)
    one = learner()
    before = one.network.classifier.weight.detach().clone()
    assert np.isnan(train_round(one, feed, none, Training(), 0, torch.Generator()))
    assert torch.equal(before, one.network.classifier.weight)


def test_images_come_as_nchw_in_the_unit_interval() -> None:
    images = np.random.default_rng(0).integers(0, 256, (4, 6, 5, 3), dtype=np.uint8)
    batch = Feed(images, CPU).take(torch.tensor([2, 0]))
    assert batch.shape == (2, 3, 6, 5)
    assert torch.equal(batch[0], torch.from_numpy(images[2]).permute(2, 0, 1) / 255)


def test_augmentation_differs_per_image_stays_in_range_and_repeats() -> None:
    one = torch.rand(1, 3, 16, 16, generator=torch.Generator().manual_seed(0))
    images = one.expand(8, -1, -1, -1)
    a = augment(images, torch.Generator().manual_seed(1))
    b = augment(images, torch.Generator().manual_seed(1))
    assert torch.equal(a, b)
    assert bool(((a >= 0) & (a <= 1)).all())
    assert len({round(float(x.sum()), 3) for x in a}) == 8


def test_augmentation_keeps_a_grey_image_grey_but_for_its_brightness() -> None:
    grey = torch.full((32, 3, 8, 8), 0.5)
    changed = augment(grey, torch.Generator().manual_seed(0))
    flat = changed.flatten(1)
    assert torch.allclose(flat, flat[:, :1].expand_as(flat), atol=1e-5)
    assert bool(((flat[:, 0] - 0.5).abs() <= 0.5 * 0.15 + 1e-6).all())
    assert float(flat[:, 0].std()) > 0.02


def test_a_bright_corner_moves_as_flips_and_small_rotations_move_it() -> None:
    images = torch.zeros(64, 3, 9, 9)
    images[:, :, 1, 1] = 1.0
    where = augment(images, torch.Generator().manual_seed(0)).mean(1).flatten(1).argmax(1)
    corners = {(1, 1), (1, 7), (7, 1), (7, 7)}
    found = {(int(i) // 9, int(i) % 9) for i in where}
    near = {(r, c) for r, c in found if any(abs(r - a) + abs(c - b) <= 2 for a, b in corners)}
    assert found == near
    assert len({(r > 4, c > 4) for r, c in found}) == 4
