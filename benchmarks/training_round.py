"""What a whole active-learning round spends on anything but training; for `training.py`."""

import argparse
import time
from collections import defaultdict
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import torch
from tables import show

from fidal.data.benchmark import TEST, TRAIN, Benchmark, Manifest
from fidal.data.sites import site_data
from fidal.federation.coordinator import Coordinator
from fidal.federation.inprocess import InProcess
from fidal.federation.messages import Request, Weights
from fidal.federation.state import Plan, State
from fidal.federation.weights import pack, unpack
from fidal.learning.networks import Architecture, build
from fidal.learning.trainer import Training
from fidal.site.ledger import Ledger
from fidal.site.oracle import GroundTruth
from fidal.site.site import Setup, Site
from fidal.storage import save_state
from fidal.strategies import STRATEGIES

CLASSES = ("a", "b", "c", "d", "e", "f", "g", "h")
COVERAGE = 512
ROUNDS, STEPS = 2, 20


def made(pixels: int, sites: int, pool: int) -> Benchmark:
    """Random pixels and embeddings; outliers in the pool, and a tenth as many test images."""
    rng = np.random.default_rng(0)
    n = pool + pool // 10
    split = np.tile(np.array([TRAIN] * pool + [TEST] * (n - pool)), sites)
    label = rng.integers(-4, len(CLASSES), n * sites).clip(-1)
    label[split == TEST] = label[split == TEST].clip(0)
    manifest = Manifest(
        classes=CLASSES,
        ids=tuple(f"{k}-{i:06d}" for k in range(sites) for i in range(n)),
        site=np.repeat([f"site{k}" for k in range(sites)], n),
        split=split,
        label=label,
    )
    images = rng.integers(0, 256, (n * sites, pixels, pixels, 3), dtype=np.uint8)
    coverage = rng.standard_normal((n * sites, COVERAGE), dtype=np.float32)
    return Benchmark("made", manifest, images, coverage=coverage)


def whole_round(kind: str, pixels: int, sites: int, options: argparse.Namespace) -> None:
    """Seconds of each phase of the last AL round, and the share that is not training."""
    benchmark = made(pixels, sites, options.pool)
    seconds: dict[tuple[int, str], float] = defaultdict(float)

    def clock(site: str, request: Request, spent: float, peak: int) -> None:
        seconds[getattr(request, "round", 0), type(request).__name__] += spent

    with TemporaryDirectory() as name:
        folder = Path(name)
        engine = InProcess(sites_of(benchmark, kind, folder, options.device), clock)
        ends = run(engine, benchmark, kind, folder, options.budget)
    for round in range(1, ROUNDS + 1):
        total = ends[round] - ends[round - 1]
        by_kind = {kind: spent for (r, kind), spent in seconds.items() if r == round}
        training = by_kind.pop("TrainRequest")
        rows = [[kind, f"{spent:.3f}"] for kind, spent in by_kind.items()]
        rest = total - training - sum(by_kind.values())
        rows += [["averaging, fresh weights, checkpoints", f"{rest:.3f}"]]
        rows += [["training", f"{training:.3f}"], ["whole round", f"{total:.3f}"]]
        rows += [["not training", f"{1 - training / total:.1%}"]]
        title = f"{kind}: AL round {round}, {sites} sites, pool {options.pool}"
        show(f"{title}, budget {options.budget}, T = {STEPS}", ["", "s"], rows, options.markdown)


def sites_of(benchmark: Benchmark, kind: str, folder: Path, device: str) -> list[Site]:
    setup = Setup(
        federation="made",
        seed=0,
        architecture=Architecture(kind=kind),
        training=Training(rounds=STEPS, device=device),
        strategy=STRATEGIES["fidal"](),
        candidates=10_000,
    )
    made = []
    for name in benchmark.manifest.sites:
        data = site_data(benchmark, name)
        (folder / name).mkdir()
        ledger = Ledger.open(folder / name / "ledger.sqlite", federation="made", site=name)
        truth = dict(zip(data.ids, data.labels.tolist(), strict=True))
        oracle = GroundTruth(truth, len(CLASSES))
        made.append(Site(data, setup, ledger, oracle, folder / name))
    return made


def run(
    engine: InProcess, benchmark: Benchmark, kind: str, folder: Path, budget: int
) -> list[float]:
    """When each AL round was over, its checkpoint written."""
    ends: list[float] = []

    def save(state: State) -> None:
        assert state.weights is None or state.weights.flat.ndim == 1
        tensors = unpack(state.weights) if state.weights else {}
        save_state(folder / "state.safetensors", tensors, {"round": str(state.round)})
        if state.phase == "query":
            ends.append(time.perf_counter())

    def fresh(round: int) -> Weights:
        shape = tuple(benchmark.inputs.shape[1:])
        objective = STRATEGIES["fidal"]().objective
        network = build(Architecture(kind=kind), shape, len(CLASSES), objective, seed=round)
        return pack(network.state_dict())

    plan = Plan("made", ROUNDS, dict.fromkeys(engine.sites, budget), STEPS, reinitialise=True)
    for _ in Coordinator(engine, plan, fresh, save).run(State()):
        if torch.cuda.is_available():
            torch.cuda.synchronize()
    return ends
