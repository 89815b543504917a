"""Captured steps against the same steps run plainly, on a GPU.

Tolerance: with deterministic convolutions a linear probe agrees bit for bit and a convolutional
network to 1e-4 of its weights' size: the same kernels run in the same order on the same numbers.
"""

import logging

import numpy as np
import pytest
import torch

from fidal.learning import graphs
from fidal.learning.batches import TrainingSet
from fidal.learning.feed import Feed
from fidal.learning.graphs import Graphs
from fidal.learning.networks import Architecture, build
from fidal.learning.objectives import OBJECTIVES
from fidal.learning.objectives.base import Optimiser
from fidal.learning.side_by_side import side_by_side
from fidal.learning.trainer import Learner, LocalRound, Training, make_learner, restart

pytestmark = pytest.mark.gpu

TRAINING = Training(batch_size=8, epochs=2, rounds=4, optimiser=Optimiser(lr=0.01))
Site = tuple[Learner, Feed]


@pytest.fixture(autouse=True)
def deterministic(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch.backends.cudnn, "deterministic", True)


def made(kind: str, objective: str, capture: bool, k: int = 0, dropout: float = 0.0) -> Site:
    """A site of 90 inputs of three classes, as images or as vectors."""
    rng = np.random.default_rng(k)
    labels = np.arange(90) % 3
    if kind == "linear":
        inputs = (np.eye(3)[labels] * 2 + rng.normal(size=(90, 3))).astype(np.float32)
    else:
        noise = rng.integers(0, 80, (90, 32, 32, 3))
        inputs = (noise + 60 * labels[:, None, None, None]).astype(np.uint8)
    chosen = OBJECTIVES[objective]()
    network = build(Architecture(kind=kind, dropout=dropout), inputs.shape[1:], 3, chosen, seed=0)
    learner = make_learner(network.cuda(), chosen, TRAINING, capture=capture)
    return learner, Feed(inputs, torch.device("cuda"))


def known(n: int, outliers: int) -> TrainingSet:
    """n labelled images: batches of 8 and what is left; outliers and unlabelled ones behind."""
    rows = torch.arange(90)
    return TrainingSet(rows[:n], rows[:n] % 3, rows[60 : 60 + outliers], rows[60 + outliers :])


def train(sites: list[Site], n: int, outliers: int, seed: int = 0) -> list[float]:
    """One AL round of four communication rounds, side by side."""
    losses = []
    for learner, _ in sites:
        restart(learner, seed)
    for step in range(4):
        rounds = []
        for k, (learner, feed) in enumerate(sites):
            generator = torch.Generator().manual_seed(1000 * seed + 10 * step + k)
            data = known(n + k, outliers)
            rounds.append(LocalRound(learner, feed, data, TRAINING, step, generator))
        side_by_side(rounds)
        losses += [local.finish() for local in rounds]
    return losses


def end(site: Site) -> torch.Tensor:
    return site[0].state.weights().flat.cpu()


def graphs_of(site: Site) -> Graphs:
    assert isinstance(site[0].run, Graphs)
    return site[0].run


@pytest.mark.parametrize("objective", list(OBJECTIVES))
@pytest.mark.parametrize("kind", ["linear", "small-cnn"])
def test_captured_steps_do_what_plain_ones_do_over_al_rounds(kind: str, objective: str) -> None:
    captured, plain = (made(kind, objective, capture) for capture in (True, False))
    # 21 = 8 + 8 + 5; then another rest; the first round knows no outlier, the second ten.
    for seed, (n, outliers) in enumerate([(21, 0), (30, 10)]):
        ours, theirs = train([captured], n, outliers, seed), train([plain], n, outliers, seed)
        np.testing.assert_allclose(ours, theirs, rtol=0 if kind == "linear" else 1e-3)
    assert graphs_of(captured)._graphs and not graphs_of(plain)._graphs
    if kind == "linear":
        assert torch.equal(end(captured), end(plain))
    else:
        difference = (end(captured) - end(plain)).norm() / end(plain).norm()
        assert float(difference) < 1e-4


@pytest.mark.parametrize("objective", ["cross-entropy", "pal"])
def test_sites_side_by_side_do_what_each_does_alone(objective: str) -> None:
    together = [made("small-cnn", objective, True, k) for k in range(4)]
    alone = [made("small-cnn", objective, False, k) for k in range(4)]
    for seed in range(2):
        train(together, 29, 9, seed)
        train(alone, 29, 9, seed)
    for one, other in zip(together, alone, strict=True):
        difference = (end(one) - end(other)).norm() / end(other).norm()
        assert float(difference) < 1e-4


def test_dropout_draws_the_same_captured_or_not_and_anew_in_each_step() -> None:
    captured, plain = (made("linear", "cross-entropy", c, dropout=0.5) for c in (True, False))
    ours, theirs = train([captured], 24, 0), train([plain], 24, 0)
    assert ours == theirs
    assert torch.equal(end(captured), end(plain))
    without = made("linear", "cross-entropy", True)
    assert train([without], 24, 0) != ours


def test_graphs_are_made_once_and_the_oldest_are_forgotten(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(graphs, "KEPT", 3)
    site = made("linear", "cross-entropy", True)
    train([site], 24, 0)
    (first,) = graphs_of(site)._graphs.values()
    train([site], 24, 0, seed=1)
    assert list(graphs_of(site)._graphs.values()) == [first]
    plain = made("linear", "cross-entropy", False)
    train([plain], 24, 0), train([plain], 24, 0, seed=1)
    for n in range(26, 32):  # rests of 2 to 7
        assert train([site], n, 0) == train([plain], n, 0)
        assert len(graphs_of(site)._graphs) == min(3, n - 24)
    assert torch.equal(end(site), end(plain))


def test_what_cannot_be_captured_runs_plainly_and_says_so_once(
    caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    captured, plain = (made("linear", "cross-entropy", c) for c in (True, False))
    real = OBJECTIVES["cross-entropy"].loss

    def peeking(self, outputs, *rest):  # type: ignore[no-untyped-def]
        float(outputs.logits.sum())  # waits for the GPU, which no graph can
        return real(self, outputs, *rest)

    monkeypatch.setattr(OBJECTIVES["cross-entropy"], "loss", peeking)
    with caplog.at_level(logging.WARNING):
        assert train([captured], 21, 0) == train([plain], 21, 0)
    assert len([r for r in caplog.records if "can't be captured" in r.message]) == 1
    assert torch.equal(end(captured), end(plain))


def test_inputs_that_do_not_fit_on_the_gpu_train_alike(monkeypatch: pytest.MonkeyPatch) -> None:
    resident = made("small-cnn", "pal", True)
    monkeypatch.setattr("fidal.learning.feed.RESIDENT_SHARE", 0.0)
    prefetched = made("small-cnn", "pal", True)
    assert prefetched[1]._resident is None and resident[1]._resident is not None
    np.testing.assert_allclose(train([resident], 29, 5), train([prefetched], 29, 5), rtol=1e-3)
