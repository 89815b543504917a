"""Sites whose steps take turns end where each would have ended alone."""

import numpy as np
import pytest
import torch

from fidal.learning.batches import TrainingSet
from fidal.learning.feed import Feed
from fidal.learning.networks import Architecture, build
from fidal.learning.objectives import OBJECTIVES
from fidal.learning.objectives.base import Optimiser
from fidal.learning.side_by_side import side_by_side
from fidal.learning.trainer import Learner, LocalRound, Training, make_learner, restart

CPU = torch.device("cpu")
TRAINING = Training(batch_size=8, epochs=2, rounds=3, optimiser=Optimiser(lr=0.01))


def made(site: int, objective: str, dropout: float = 0.0) -> tuple[Learner, Feed, TrainingSet]:
    """Images of three classes that differ in brightness; every site has another number of them."""
    n = 40 + 7 * site
    rng = np.random.default_rng(site)
    labels = rng.integers(0, 3, n)
    images = (rng.integers(0, 80, (n, 8, 8, 3)) + 60 * labels[:, None, None, None]).astype("u1")
    chosen = OBJECTIVES[objective]()
    network = build(Architecture(dropout=dropout), (8, 8, 3), 3, chosen, seed=0)
    rows, known = torch.arange(n), n // 2
    data = TrainingSet(
        rows[:known], torch.from_numpy(labels[:known]), rows[known : known + 5], rows[known + 5 :]
    )
    return make_learner(network, chosen, TRAINING), Feed(images, CPU), data


def begin(site: int, one: tuple[Learner, Feed, TrainingSet], step: int) -> LocalRound:
    learner, feed, data = one
    generator = torch.Generator().manual_seed(100 * site + step)
    return LocalRound(learner, feed, data, TRAINING, step, generator)


def end(one: tuple[Learner, Feed, TrainingSet]) -> torch.Tensor:
    return one[0].state.weights().flat


@pytest.mark.parametrize("objective", list(OBJECTIVES))
def test_taking_turns_changes_no_bit(objective: str) -> None:
    sites = [made(k, objective, dropout=0.2) for k in range(2)]
    alone = [made(k, objective, dropout=0.2) for k in range(2)]
    for one in (*sites, *alone):
        restart(one[0], seed=7)
    for step in range(2):
        rounds = [begin(k, one, step) for k, one in enumerate(sites)]
        side_by_side(rounds)
        together = [local.finish() for local in rounds]
        for k, one in enumerate(alone):
            local = begin(k, one, step)
            side_by_side([local])
            assert local.finish() == together[k]
    for one, other in zip(sites, alone, strict=True):
        assert torch.equal(end(one), end(other))


def test_turns_are_taken_one_step_at_a_time_and_a_site_without_data_takes_none() -> None:
    sites = [made(k, "cross-entropy") for k in range(2)]
    learner, feed, data = made(2, "cross-entropy")
    none = TrainingSet(data.labelled[:0], data.labels[:0], data.outliers, data.unlabelled)
    order: list[int] = []
    rounds = [begin(k, one, 0) for k, one in enumerate([*sites, (learner, feed, none)])]
    for k, local in enumerate(rounds):
        step = local.advance

        def advance(k: int = k, step=step) -> bool:  # type: ignore[no-untyped-def]
            taken: bool = step()
            order.extend([k] * taken)
            return taken

        local.advance = advance  # type: ignore[method-assign]
    side_by_side(rounds)
    # 20 labelled in batches of 8 are 3 steps an epoch, 23 as well; two epochs.
    assert order == [0, 1] * 6
    assert [local.steps for local in rounds] == [6, 6, 0]
    assert np.isnan(rounds[2].finish())


@pytest.mark.parametrize("objective", list(OBJECTIVES))
def test_a_restarted_learner_is_a_fresh_one(objective: str) -> None:
    used, fresh = made(0, objective), made(0, objective)
    sent = end(fresh)
    weights = fresh[0].state.weights()
    for step in range(2):
        side_by_side([begin(0, used, step)])
    assert not torch.equal(end(used), sent)
    for one in (used, fresh):
        one[0].state.load(weights)
        restart(one[0], seed=3)
        for step in range(2):
            side_by_side([begin(0, one, step)])
    assert torch.equal(end(used), end(fresh))
    if used[0].companion is not None and fresh[0].companion is not None:
        ours, theirs = used[0].companion.module, fresh[0].companion.module
        pairs = zip(ours.parameters(), theirs.parameters(), strict=True)
        assert all(torch.equal(a, b) for a, b in pairs)


def test_dropout_is_drawn_from_the_rounds_generator_and_leaves_the_global_state_alone() -> None:
    ends = []
    for seed in (1, 2):
        torch.manual_seed(seed)
        before = torch.get_rng_state()
        one = made(0, "cross-entropy", dropout=0.5)
        side_by_side([begin(0, one, 0)])
        assert torch.equal(before, torch.get_rng_state())
        ends.append(end(one))
    assert torch.equal(ends[0], ends[1])
    assert not torch.equal(ends[0], end_without_dropout())


def end_without_dropout() -> torch.Tensor:
    one = made(0, "cross-entropy")
    side_by_side([begin(0, one, 0)])
    return end(one)
