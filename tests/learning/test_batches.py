"""One epoch of a site: which images, in which order, with which random numbers."""

import pytest
import torch
from torch import Tensor

from fidal.learning.augmentation import DRAWS
from fidal.learning.batches import Minibatch, TrainingSet, epoch, moved
from fidal.learning.objectives import OBJECTIVES
from fidal.learning.objectives.base import Objective
from fidal.types import OUTLIER, UNLABELLED

PLAIN, PAL = OBJECTIVES["cross-entropy"](), OBJECTIVES["pal"]()


def known(n: int = 30, outliers: int = 10, unlabelled: int = 20) -> TrainingSet:
    """Rows of a feed of a hundred, no set in one piece, none in order; labels 0, 1, 2."""
    rows = torch.randperm(100, generator=torch.Generator().manual_seed(9))
    labelled, rest = rows[:n], rows[n:]
    return TrainingSet(labelled, labelled % 3, rest[:outliers], rest[50 : 50 + unlabelled])


def drawn(
    objective: Objective = PLAIN,
    data: TrainingSet | None = None,
    size: int = 8,
    augment: bool = False,
    seed: int = 0,
) -> list[Minibatch]:
    generator = torch.Generator().manual_seed(seed)
    return epoch(objective, data or known(), size, augment, generator)


def joined(batches: list[Minibatch]) -> tuple[Tensor, Tensor, Tensor]:
    """Rows of the feed, labels, and rows of their own set."""
    return (
        torch.cat([batch.rows for batch in batches]),
        torch.cat([batch.targets.labels for batch in batches]),
        torch.cat([batch.targets.rows for batch in batches]),
    )


@pytest.mark.parametrize("size", [1, 7, 8, 30, 99])
def test_every_labelled_image_comes_once_with_its_label(size: int) -> None:
    data = known()
    rows, labels, own = joined(drawn(data=data, size=size))
    assert sorted(rows.tolist()) == sorted(data.labelled.tolist())
    assert torch.equal(labels, rows % 3)
    assert torch.equal(data.labelled[own], rows)


def test_batches_are_full_but_for_the_last() -> None:
    assert [len(batch.rows) for batch in drawn(size=8)] == [8, 8, 8, 6]


@pytest.mark.parametrize("name", OBJECTIVES)
def test_outliers_come_once_too_and_only_to_who_wants_them(name: str) -> None:
    objective, data = OBJECTIVES[name](), known()
    rows, labels, own = joined(drawn(objective, data))
    outliers = labels == OUTLIER
    if not objective.includes_outliers:
        assert not bool(outliers.any())
        return
    assert sorted(rows[outliers].tolist()) == sorted(data.outliers.tolist())
    assert torch.equal(data.outliers[own[outliers]], rows[outliers])
    assert sorted(rows[labels >= 0].tolist()) == sorted(data.labelled.tolist())


def test_outliers_are_mixed_among_the_others() -> None:
    shares = [float((b.targets.labels == OUTLIER).double().mean()) for b in drawn(PAL, size=20)]
    assert 0 < min(shares) <= max(shares) < 0.5


@pytest.mark.parametrize("name", OBJECTIVES)
def test_each_batch_is_followed_by_its_share_of_unlabelled_images(name: str) -> None:
    objective, data = OBJECTIVES[name](), known()
    batches = drawn(objective, data, size=7)
    for batch in batches:
        unlabelled = batch.targets.labels == UNLABELLED
        n = len(batch.rows) - int(unlabelled.sum())
        assert int(unlabelled.sum()) == objective.unlabelled_ratio * n
        assert bool(unlabelled[n:].all())
        assert torch.equal(data.unlabelled[batch.targets.rows[unlabelled]], batch.rows[unlabelled])


def test_unlabelled_images_are_drawn_anew_for_each_batch_from_the_whole_pool() -> None:
    batches = [batch for seed in range(40) for batch in drawn(PAL, size=8, seed=seed)]
    rows, labels, _ = joined(batches)
    counts = torch.bincount(rows[labels == UNLABELLED], minlength=100)[known().unlabelled]
    # 40 epochs x 40 images x 2 draws from 20: binomial of mean 160 and standard deviation 12.
    assert int(counts.sum()) == 3200 and 110 < int(counts.min()) <= int(counts.max()) < 210


def test_where_nothing_is_left_unlabelled_there_are_just_the_labelled() -> None:
    rows, labels, _ = joined(drawn(PAL, known(unlabelled=0)))
    assert len(rows) == 40 and not bool((labels == UNLABELLED).any())


def test_a_last_batch_of_one_is_left_out_for_batch_norm() -> None:
    assert [len(batch.rows) for batch in drawn(size=29)] == [29]
    assert [len(batch.rows) for batch in drawn(size=1)] == [1] * 30  # as was asked for
    left_out = {tuple(sorted(joined(drawn(size=29, seed=s))[0].tolist())) for s in range(20)}
    assert len(left_out) > 5  # not always the same image


def test_an_only_image_is_shown_twice() -> None:
    data = known(1)
    (batch,) = drawn(data=data)
    assert batch.rows.tolist() == data.labelled.tolist() * 2
    assert batch.targets.labels.tolist() == data.labels.tolist() * 2
    assert batch.targets.rows.tolist() == [0, 0]
    (with_draws,) = drawn(data=data, augment=True)
    assert with_draws.draw is not None  # two views, not one image twice
    assert not torch.equal(with_draws.draw[:, 0], with_draws.draw[:, 1])


def test_the_order_is_the_generators_and_no_two_epochs_are_alike() -> None:
    one, again, other = (joined(drawn(seed=seed))[0] for seed in (1, 1, 2))
    assert torch.equal(one, again) and not torch.equal(one, other)
    generator = torch.Generator().manual_seed(1)
    first, second = (joined(epoch(PLAIN, known(), 8, False, generator))[0] for _ in range(2))
    assert torch.equal(first, one) and not torch.equal(second, first)


@pytest.mark.parametrize("objective", [PLAIN, PAL], ids=lambda o: o.name)
def test_augmentation_draws_for_every_image_and_changes_no_batch(objective: Objective) -> None:
    plain, augmented = drawn(objective), drawn(objective, augment=True)
    draws = []
    for batch, same in zip(plain, augmented, strict=True):
        assert batch.draw is None and same.draw is not None
        assert torch.equal(batch.rows, same.rows)
        assert torch.equal(batch.targets.labels, same.targets.labels)
        assert same.draw.shape == (DRAWS, len(same.rows))
        draws.append(same.draw)
    every = torch.cat(draws, 1)
    assert 0 <= float(every.min()) and float(every.max()) < 1
    assert len(every.unique()) > 0.99 * every.numel()  # each image its own


def test_on_the_cpu_nothing_is_moved() -> None:
    batches = drawn(PAL, augment=True)
    assert moved(batches, torch.device("cpu")) is batches
    assert moved([], torch.device("cuda")) == []


@pytest.mark.gpu
@pytest.mark.parametrize("augment", [False, True])
def test_on_a_gpu_targets_and_draws_are_there_and_rows_stay(augment: bool) -> None:
    here = drawn(PAL, augment=augment)
    for batch, there in zip(here, moved(here, torch.device("cuda")), strict=True):
        assert torch.equal(there.rows, batch.rows)
        assert there.targets.labels.is_cuda and there.targets.rows.is_cuda
        assert torch.equal(there.targets.labels.cpu(), batch.targets.labels)
        assert torch.equal(there.targets.rows.cpu(), batch.targets.rows)
        assert (there.draw is None) == (batch.draw is None)
        if batch.draw is not None and there.draw is not None:
            assert torch.equal(there.draw.cpu(), batch.draw)
