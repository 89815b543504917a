import numpy as np
import torch

from fidal.learning.feed import Feed
from fidal.learning.inference import BATCH, infer
from fidal.learning.networks import Architecture, Network, build
from fidal.learning.objectives import OBJECTIVES
from fidal.learning.objectives.base import Objective
from fidal.learning.trainer import Training, make_learner

CPU = torch.device("cpu")
PLAIN = OBJECTIVES["cross-entropy"]()


def images(n: int) -> Feed:
    return Feed(np.random.default_rng(0).integers(0, 256, (n, 16, 16, 3), dtype=np.uint8), CPU)


def network(objective: Objective = PLAIN, dropout: float = 0.0) -> Network:
    return build(Architecture(dropout=dropout), (16, 16, 3), 3, objective, seed=0)


def test_large_batches_say_what_one_image_at_a_time_says() -> None:
    feed, net = images(BATCH + 3), network()
    rows = torch.randperm(len(feed), generator=torch.Generator().manual_seed(0))
    said = infer(net, feed, rows)
    assert said.logits.shape == (BATCH + 3, 3)
    some = [0, 17, BATCH - 1, BATCH, BATCH + 2]
    with torch.no_grad():
        each = [net.eval()(feed.take(rows[i : i + 1])) for i in some]
    assert torch.allclose(said.logits[some], torch.cat([e.logits for e in each]), atol=1e-5)
    assert torch.allclose(said.features[some], torch.cat([e.features for e in each]), atol=1e-5)


def test_neither_dropout_nor_batch_norm_is_at_work_and_no_statistic_moves() -> None:
    feed, net = images(12), network(dropout=0.5)
    net.train()
    before = {name: x.clone() for name, x in net.state_dict().items()}
    first, second = infer(net, feed, torch.arange(12)), infer(net, feed, torch.arange(12))
    assert torch.equal(first.logits, second.logits)
    assert all(torch.equal(before[name], x) for name, x in net.state_dict().items())
    assert not first.logits.requires_grad


def test_outputs_are_those_that_the_objective_promises() -> None:
    feed, rows = images(BATCH + 2), torch.arange(BATCH + 2)
    for objective in (kind() for kind in OBJECTIVES.values()):
        learner = make_learner(network(objective), objective, Training())
        said = infer(learner.network, feed, rows, objective, learner.companion)
        assert set(said.outputs) == set(objective.outputs)
        assert all(len(x) == len(rows) for x in said.outputs.values())
        assert not infer(learner.network, feed, rows).outputs


def test_no_rows_are_no_answers() -> None:
    said = infer(network(), images(3), torch.zeros(0, dtype=torch.int64))
    assert said.logits.shape == (0, 3) and said.features.shape == (0, 128)
