"""Images per second of a federation's training, end to end: ours, the usual loop, the ceiling.

python benchmarks/training.py                      both settings of the paper, and a whole AL round
python benchmarks/training.py --only densenet121   one setting
python benchmarks/training.py --markdown           as in docs/performance.md

All three read uint8 images (on a GPU they are resident), augment them, and average the sites'
weights after each local epoch, in one process on one device. The usual loop is what one writes
without thinking of speed: float32, one kernel after the other, an optimiser that goes through the
tensors, one site after the other, a loss that is read at each step. The ceiling is one site at
batch size 1,024. A site's images leave a rest, as real ones do. The last table is a whole AL round
through the in-process engine: what is not training is overhead.
"""

import argparse
import time
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import torch
from tables import show
from training_round import whole_round

from fidal.federation.averaging import federated_average
from fidal.federation.messages import TrainReply
from fidal.learning.augmentation import DRAWS, augment
from fidal.learning.batches import TrainingSet
from fidal.learning.feed import Feed
from fidal.learning.networks import Architecture, build
from fidal.learning.objectives.base import Context
from fidal.learning.objectives.cross_entropy import CrossEntropy, classification_loss
from fidal.learning.side_by_side import side_by_side
from fidal.learning.trainer import Learner, LocalRound, Training, make_learner

CLASSES = 8
REST = 20
"""Images of a site's last batch."""


@dataclass(frozen=True)
class Setting:
    """One network as the paper trains it."""

    network: str
    pixels: int
    sites: int
    batch: int = 32
    steps: int = 20
    """Full batches per site and local epoch."""


SETTINGS = {
    "efficientnet_b0": Setting("efficientnet_b0", 224, 4),
    "densenet121": Setting("densenet121", 96, 5),
    "small-cnn": Setting("small-cnn", 64, 4, steps=4),
}
ASKED = {"efficientnet_b0": "5 x, 80 %", "densenet121": "10 x", "small-cnn": ""}


def parse(arguments: list[str] | None = None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument(
        "--only", nargs="+", choices=list(SETTINGS), help="default: the paper's two"
    )
    parser.add_argument("--device", choices=["cpu", "cuda"])
    parser.add_argument("--seconds", type=float, default=10, help="of measurement, for each number")
    parser.add_argument("--no-round", action="store_true", help="leave out the whole AL round")
    parser.add_argument("--budget", type=int, default=200, help="of the AL round, per site")
    parser.add_argument("--pool", type=int, default=2000, help="of the AL round, images per site")
    parser.add_argument("--markdown", action="store_true", help="print tables in Markdown")
    options = parser.parse_args(arguments)
    options.device = options.device or ("cuda" if torch.cuda.is_available() else "cpu")
    return options


def main(arguments: list[str] | None = None) -> None:
    options = parse(arguments)
    names = options.only or ["efficientnet_b0", "densenet121"]
    rows = []
    for name in names:
        setting = SETTINGS[name]
        together = ours(setting, options)
        alone = ours(one_site(setting), options)
        ceiling = ours(at_the_ceiling(setting, options.device), options)
        usual = usual_loop(setting, options)
        numbers = [usual, alone, together, ceiling, together / usual, together / ceiling]
        rows.append([name, *(f"{number:.4g}" for number in numbers), ASKED[name]])
        print(rows[-1], flush=True)
    heads = ["network", "usual loop", "one site", "sites side by side", "batch 1,024"]
    heads += ["x usual", "of ceiling", "asked"]
    show(f"Images per second, {device_name(options.device)}", heads, rows, options.markdown)
    if not options.no_round:
        for name in names:
            whole_round(
                SETTINGS[name].network, SETTINGS[name].pixels, SETTINGS[name].sites, options
            )


def one_site(setting: Setting) -> Setting:
    return Setting(setting.network, setting.pixels, 1, setting.batch, setting.steps)


def at_the_ceiling(setting: Setting, device: str) -> Setting:
    batch = 1024 if device == "cuda" else 128
    return Setting(setting.network, setting.pixels, 1, batch, steps=4)


def device_name(device: str) -> str:
    if device == "cuda":
        return torch.cuda.get_device_name()
    return f"CPU, {torch.get_num_threads()} threads"


def inputs(setting: Setting, site: int) -> tuple[np.ndarray, TrainingSet]:
    """Random pixels: what is in an image does not change how long it takes."""
    n = setting.steps * setting.batch + REST
    rng = np.random.default_rng(site)
    pixels = rng.integers(0, 256, (n, setting.pixels, setting.pixels, 3), dtype=np.uint8)
    none = torch.zeros(0, dtype=torch.int64)
    return pixels, TrainingSet(torch.arange(n), torch.arange(n) % CLASSES, none, none)


def network(setting: Setting, device: str) -> torch.nn.Module:
    shape = (setting.pixels, setting.pixels, 3)
    kind = Architecture(kind=setting.network)
    return build(kind, shape, CLASSES, CrossEntropy(), seed=0).to(device)


def ours(setting: Setting, options: argparse.Namespace) -> float:
    """The sites' rounds as the in-process engine runs them."""
    device = torch.device(options.device)
    training = Training(batch_size=setting.batch)
    sites: list[tuple[Learner, Feed, TrainingSet]] = []
    for k in range(setting.sites):
        pixels, data = inputs(setting, k)
        learner = make_learner(network(setting, options.device), CrossEntropy(), training)
        sites.append((learner, Feed(pixels, device), data))
    weights = sites[0][0].state.weights()

    def one_round() -> None:
        nonlocal weights
        rounds = []
        for learner, feed, data in sites:
            learner.state.load(weights)
            generator = torch.Generator().manual_seed(0)
            rounds.append(LocalRound(learner, feed, data, training, 0, generator))
        side_by_side(rounds)
        replies = [
            TrainReply(str(k), learner.state.weights(), len(data.labels), local.finish())
            for k, (local, (learner, _, data)) in enumerate(zip(rounds, sites, strict=True))
        ]
        weights = federated_average(replies, fallback=weights)

    return measured(one_round, sum(len(data.labels) for _, _, data in sites), options)


def usual_loop(setting: Setting, options: argparse.Namespace) -> float:
    """See the head of this file."""
    device = torch.device(options.device)
    feeds, models, optimisers = [], [], []
    for k in range(setting.sites):
        pixels, data = inputs(setting, k)
        feeds.append((Feed(pixels, device), data))
        models.append(network(setting, options.device))
        optimisers.append(torch.optim.AdamW(models[-1].parameters(), lr=5e-4, foreach=False))

    def one_round() -> None:
        for (feed, data), model, optimiser in zip(feeds, models, optimisers, strict=True):
            usual_epoch(feed, data, model, optimiser, setting.batch)
        states = [model.state_dict() for model in models]
        mean = {name: sum(state[name] for state in states) / len(states) for name in states[0]}
        for model in models:
            model.load_state_dict(mean)

    return measured(one_round, sum(len(data.labels) for _, data in feeds), options)


def usual_epoch(
    feed: Feed,
    data: TrainingSet,
    model: torch.nn.Module,
    optimiser: torch.optim.Optimizer,
    size: int,
) -> float:
    context = Context(torch.bincount(data.labels).float().to(feed.device), 0, 0, 1)
    total = 0.0
    for rows in torch.split(torch.randperm(len(data.labels)), size):
        x = feed.take(rows).contiguous()
        x = augment(x, torch.rand(DRAWS, len(rows), device=feed.device))
        optimiser.zero_grad()
        labels = data.labels[rows].to(feed.device)
        loss = classification_loss(model(x).logits, labels, context)
        loss.backward()
        optimiser.step()
        total += loss.item()
    return total


def measured(run: Callable[[], None], images: int, options: argparse.Namespace) -> float:
    """Images per second over whole rounds, the first three not counted."""
    for _ in range(3 if options.device == "cuda" else 1):
        run()
    synchronise(options.device)
    start, rounds = time.perf_counter(), 0
    while rounds == 0 or time.perf_counter() - start < options.seconds:
        run()
        synchronise(options.device)
        rounds += 1
    found = rounds * images / (time.perf_counter() - start)
    memory = torch.cuda.max_memory_allocated() / 2**30 if options.device == "cuda" else 0.0
    print(f"{found:.0f} images/s over {rounds} rounds, {memory:.1f} GiB", flush=True)
    return found


def synchronise(device: str) -> None:
    if device == "cuda":
        torch.cuda.synchronize()


if __name__ == "__main__":
    main()
