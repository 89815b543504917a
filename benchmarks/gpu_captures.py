"""How captured steps compare with plain ones, network by network; a part of `gpu_check.py`."""

import argparse
import time

import torch
from training import CLASSES, Setting, inputs, network

from fidal.learning.feed import Feed
from fidal.learning.networks import Architecture, build
from fidal.learning.objectives import OBJECTIVES
from fidal.learning.side_by_side import side_by_side
from fidal.learning.trainer import LocalRound, Training, make_learner

ROUNDS = 3


def report(options: argparse.Namespace) -> str:
    """Loss and weights after three rounds, images per second, and what one capture costs."""
    worst = 0.0
    for kind, pixels in (("efficientnet_b0", 224), ("densenet121", 96), ("small-cnn", 64)):
        setting = Setting(kind, pixels, 1, steps=4)
        for name in OBJECTIVES if kind == "small-cnn" else ("cross-entropy",):
            plain = trained(setting, name, capture=False)
            again = trained(setting, name, capture=False)
            captured = trained(setting, name, capture=True)
            apart, noise = distance(captured, plain), distance(again, plain)
            worst = max(worst, apart)
            print(
                f"{kind:<16} {name:<14} |captured - plain| / |plain| = {apart:.2e} "
                f"(plain twice: {noise:.2e}); loss {captured[1]:.5f} {plain[1]:.5f} {again[1]:.5f}",
                flush=True,
            )
        for tuned in (False, True):
            torch.backends.cudnn.benchmark = tuned
            first_steps(setting, f"{kind}, cudnn.benchmark {tuned}")
        torch.backends.cudnn.benchmark = False
    feeds()
    return f"worst distance of the weights {worst:.2e}"


def learner_of(setting: Setting, objective: str, capture: bool):  # type: ignore[no-untyped-def]
    torch.manual_seed(0)
    chosen = OBJECTIVES[objective]()
    shape = (setting.pixels, setting.pixels, 3)
    made = build(Architecture(kind=setting.network), shape, CLASSES, chosen, seed=0)
    return make_learner(made.to("cuda"), chosen, Training(), capture=capture)


def trained(setting: Setting, objective: str, capture: bool) -> tuple[torch.Tensor, float]:
    """The weights after ROUNDS rounds of full batches and a rest, and the last loss."""
    pixels, data = inputs(setting, 0)
    feed, learner = Feed(pixels, torch.device("cuda")), learner_of(setting, objective, capture)
    loss = 0.0
    for step in range(ROUNDS):
        generator = torch.Generator().manual_seed(step)
        local = LocalRound(learner, feed, data, Training(), step, generator)
        side_by_side([local])
        loss = local.finish()
    if capture and not learner.run._graphs:
        print(f"{setting.network}, {objective}: NOT CAPTURED")
    return learner.state.weights().flat.double(), loss


def distance(one: tuple[torch.Tensor, float], other: tuple[torch.Tensor, float]) -> float:
    return float((one[0] - other[0]).norm() / other[0].norm())


def first_steps(setting: Setting, title: str) -> None:
    """What a plain step takes, what capturing one takes, and what a replay takes."""
    pixels, data = inputs(setting, 0)
    feed, learner = Feed(pixels, torch.device("cuda")), learner_of(setting, "cross-entropy", True)
    spent = []
    for step in range(2):
        generator = torch.Generator().manual_seed(step)
        local = LocalRound(learner, feed, data, Training(), step, generator)
        for _ in range(4):  # in the first round plainly, captured, replayed, replayed
            torch.cuda.synchronize()
            start = time.perf_counter()
            local.advance()
            torch.cuda.synchronize()
            spent.append(f"{(time.perf_counter() - start) * 1e3:.1f}")
        side_by_side([local])
        local.finish()
    print(f"{title}: ms of the first steps {' '.join(spent)}", flush=True)


def feeds() -> None:
    """Milliseconds to load and to pack a network's state, and images per second of the feed."""
    for kind, pixels in (("efficientnet_b0", 224), ("densenet121", 96)):
        setting = Setting(kind, pixels, 1)
        state = make_learner(
            network(setting, "cuda"), OBJECTIVES["cross-entropy"](), Training()
        ).state
        weights = state.weights()
        load, pack = milliseconds(lambda s=state, w=weights: s.load(w)), milliseconds(state.weights)
        feed = Feed(inputs(setting, 0)[0], torch.device("cuda"))
        rows = torch.arange(32)
        take = milliseconds(lambda f=feed, r=rows: f.take(r))
        print(f"{kind}: load {load:.3f} ms, pack {pack:.3f} ms, 32 images taken {take:.3f} ms")


def milliseconds(run) -> float:  # type: ignore[no-untyped-def]
    run()
    torch.cuda.synchronize()
    start = time.perf_counter()
    for _ in range(20):
        run()
    torch.cuda.synchronize()
    return (time.perf_counter() - start) / 20 * 1e3
