"""How cost grows: seconds and memory over pool size, budget, classes and sites, and what limits.

python benchmarks/scaling.py --out FILE        a table, and its numbers in a JSON file
python benchmarks/scaling.py --quick           smaller ranges, as on a CPU anyway
python benchmarks/scaling_figure.py FILE       the figure, as docs/performance.md has it

The exponent is the slope of log seconds over log size in the upper half of the range. The floor is
the larger of two times: the floating-point operations that the phase can't do without over the
rate of a large matrix product, and the bytes that it must read and write over the rate of a large
copy, both measured on this device first. A phase at its floor is limited by that; one far above it
by the launches, the Python and the waiting in between.
"""

import argparse
import ctypes
import json
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from pathlib import Path

import numpy as np
import torch
from made_pool import made
from scaling_exponent import exponent
from selection_measure import forget_peak, resident
from tables import show
from training import Setting, inputs, network

from fidal.federation.averaging import federated_average
from fidal.federation.messages import TrainReply
from fidal.learning.feed import Feed
from fidal.learning.objectives.cross_entropy import CrossEntropy
from fidal.learning.side_by_side import side_by_side
from fidal.learning.trainer import LocalRound, Training, make_learner
from fidal.strategies import STRATEGIES

WIDTH, LABELLED = 512, 2_000
AHEAD = 32
"""Seeds whose distances `neighbours.seeding` computes at once."""
IMAGES = 100
"""Of a site, in the sweep over sites."""


@dataclass
class Curve:
    """One phase over one size."""

    phase: str
    over: str
    sizes: list[int] = field(default_factory=list)
    seconds: list[float] = field(default_factory=list)
    mib: list[float] = field(default_factory=list)
    floors: list[tuple[float, float]] = field(default_factory=list)
    """Seconds of the arithmetic, and of the bytes."""

    @property
    def exponent(self) -> float:
        return exponent(self.sizes, self.seconds)

    @property
    def limit(self) -> str:
        """In words, at the largest size."""
        arithmetic, moving = self.floors[-1]
        floor = max(arithmetic, moving)
        share = floor / self.seconds[-1]
        what = "arithmetic" if arithmetic > moving else "memory bandwidth"
        if share > 0.4:
            return f"{what} ({share:.0%} of the floor's rate)"
        return f"launches and host work; {what} would allow {1 / share:.0f} x"


@dataclass(frozen=True)
class Device:
    """What it can do at most."""

    name: str
    flops: float
    bytes: float

    def floor(self, operations: float, moved: float) -> tuple[float, float]:
        return operations / self.flops, moved / self.bytes


def parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--device", choices=["cpu", "cuda"])
    parser.add_argument("--out", type=Path, help="JSON file for the figure")
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--only", nargs="+", choices=["pool", "budget", "classes", "sites"])
    parser.add_argument("--markdown", action="store_true")
    options = parser.parse_args()
    options.device = options.device or ("cuda" if torch.cuda.is_available() else "cpu")
    return options


def main() -> None:
    options = parse()
    device = probe(options.device)
    print(f"{device.flops / 1e12:.2f} TFLOP/s float32, {device.bytes / 1e9:.0f} GB/s", flush=True)
    large = options.device == "cuda"
    ranges = {
        "pool": [2_000, 6_000, 20_000, 60_000, 200_000] if large else [1_000, 2_000, 4_000, 8_000],
        "budget": [30, 100, 300, 1_000] if large else [25, 50, 100, 200],
        "classes": [2, 8, 32, 128] if large else [2, 8, 32],
        "sites": [2, 4, 8, 16, 32, 64] if large and not options.quick else [2, 4, 8],
    }
    if options.quick:
        ranges["pool"] = ranges["pool"][:-1]
    curves = []
    for over in options.only or ranges:
        for curve in SWEEPS[over](ranges[over], device):
            curves.append(curve)
            spent = ", ".join(f"{s:.3g}" for s in curve.seconds)
            print(f"{curve.phase} over {over} {curve.sizes}: {spent} s", flush=True)
    rows = [
        [
            curve.phase,
            curve.over,
            f"{curve.sizes[0]:,} to {curve.sizes[-1]:,}",
            f"{curve.seconds[-1]:.3g}",
            f"{curve.mib[-1]:,.0f}",
            f"{curve.exponent:.2f}",
            curve.limit,
        ]
        for curve in curves
    ]
    heads = ["phase", "over", "range", "s at the end", "MiB", "exponent", "limited by"]
    show(f"How cost grows, {device.name}", heads, rows, options.markdown)
    if options.out:
        options.out.parent.mkdir(parents=True, exist_ok=True)
        options.out.write_text(json.dumps([asdict(curve) for curve in curves]))


def probe(kind: str) -> Device:
    """The rates of a large product and of a large copy."""
    side = 8192 if kind == "cuda" else 1024
    a, b = torch.rand(side, side, device=kind), torch.rand(side, side, device=kind)
    product, _ = measured(lambda: a @ b, kind)
    copy, _ = measured(lambda: b.copy_(a), kind)
    name = torch.cuda.get_device_name() if kind == "cuda" else f"{torch.get_num_threads()} threads"
    return Device(name, 2 * side**3 / product, 2 * a.nbytes / copy)


def measured(run: Callable[[], object], kind: str) -> tuple[float, float]:
    """Seconds, the best of three after one to get warm, and MiB beyond what there was before.

    CPU seconds on a CPU, because machines are shared.
    """
    clock = time.perf_counter if kind == "cuda" else time.process_time
    spent = []
    if kind == "cuda":
        torch.cuda.synchronize()
        torch.cuda.reset_peak_memory_stats()
        before = torch.cuda.memory_allocated() / 2**20
    else:
        ctypes.CDLL(None).malloc_trim(0)  # what earlier cases freed and the allocator kept
        forget_peak()
        before = resident("VmRSS")
    for _ in range(4):
        start = clock()
        run()
        if kind == "cuda":
            torch.cuda.synchronize()
        spent.append(clock() - start)
    peak = torch.cuda.max_memory_allocated() / 2**20 if kind == "cuda" else resident("VmHWM")
    return min(spent[1:]), peak - before


def selection_floor(phase: str, n: int, budget: int, device: Device) -> tuple[float, float]:
    """FIDAL multiplies half of U x U and U x L; the others read U once per AHEAD seeds."""
    if phase == "fidal":
        return device.floor(2 * WIDTH * n * (n / 2 + 2 * LABELLED), 8 * n * WIDTH)
    rows = n * budget
    return device.floor(2 * WIDTH * rows, 4 * WIDTH * rows / AHEAD + 8 * rows)


def query_curves(
    over: str, sizes: list[int], device: Device, case: Callable[[int], tuple[int, int, int]]
) -> list[Curve]:
    """`case`: from a size to candidates, budget and classes."""
    kind = "cuda" if device.name == _gpu_name() else "cpu"
    curves = [Curve(name, over) for name in ("fidal", "badge", "coreset")]
    for size in sizes:
        candidates, budget, classes = case(size)
        pool = made(candidates, LABELLED, WIDTH, kind, classes)
        for curve in curves:
            strategy = STRATEGIES[curve.phase]()
            seconds, mib = measured(
                lambda s=strategy, p=pool, b=budget: s.select(p, b, np.random.default_rng(0)),  # type: ignore[misc]
                kind,
            )
            curve.sizes.append(size)
            curve.seconds.append(seconds)
            curve.mib.append(mib)
            curve.floors.append(selection_floor(curve.phase, candidates, budget, device))
    return curves


def _gpu_name() -> str:
    return torch.cuda.get_device_name() if torch.cuda.is_available() else ""


def over_pool(sizes: list[int], device: Device) -> list[Curve]:
    return query_curves("pool", sizes, device, lambda n: (n, min(500, n // 4), 8))


def over_budget(sizes: list[int], device: Device) -> list[Curve]:
    n = 20_000 if device.name == _gpu_name() else 4_000
    return query_curves("budget", sizes, device, lambda budget: (n, budget, 8))


def over_classes(sizes: list[int], device: Device) -> list[Curve]:
    n = 20_000 if device.name == _gpu_name() else 4_000
    return query_curves("classes", sizes, device, lambda classes: (n, 100, classes))


def over_sites(sizes: list[int], device: Device) -> list[Curve]:
    """A communication round of the small network, and FedAvg of DenseNet-121's size on its own."""
    kind = "cuda" if device.name == _gpu_name() else "cpu"
    train, average = Curve("training round", "sites"), Curve("FedAvg", "sites")
    setting = Setting("small-cnn", 64, 1, steps=3)
    training = Training()
    sites = []
    for k in range(max(sizes)):
        pixels, data = inputs(setting, k)
        learner = make_learner(network(setting, kind), CrossEntropy(), training)
        sites.append((learner, Feed(pixels, torch.device(kind)), data))
    operations = 6 * 6.7e6 * (setting.steps * 32 + 20)  # 6.7 M multiply-adds an image, forward
    for count in sizes:
        for curve, run in (
            (train, lambda c=count: _round(sites[:c], training)),
            (average, lambda c=count: _average(sites[:c])),
        ):
            seconds, mib = measured(run, kind)
            curve.sizes.append(count)
            curve.seconds.append(seconds)
            curve.mib.append(mib)
        train.floors.append(device.floor(count * operations, 0))
        size = len(sites[0][0].state.weights().flat)
        average.floors.append(device.floor(2 * count * size, 20 * count * size))
    return [train, average]


def _round(sites: list, training: Training) -> None:  # type: ignore[type-arg]
    rounds = [
        LocalRound(learner, feed, data, training, 0, torch.Generator().manual_seed(0))
        for learner, feed, data in sites
    ]
    side_by_side(rounds)
    for local in rounds:
        local.finish()


def _average(sites: list) -> None:  # type: ignore[type-arg]
    weights = [learner.state.weights() for learner, _, _ in sites]
    replies = [TrainReply(str(k), w, 1, 0.0) for k, w in enumerate(weights)]
    mean = federated_average(replies, weights[0])
    for learner, _, _ in sites:
        learner.state.load(mean)


SWEEPS: dict[str, Callable[[list[int], Device], list[Curve]]] = {
    "pool": over_pool,
    "budget": over_budget,
    "classes": over_classes,
    "sites": over_sites,
}


if __name__ == "__main__":
    main()
