"""A small clinic for tests: vectors of four classes, a third of the images foreign."""

from dataclasses import replace
from pathlib import Path

import numpy as np

from fidal.data.benchmark import TEST, TRAIN, Benchmark, Manifest
from fidal.data.sites import site_data
from fidal.federation.messages import QueryRequest, TrainRequest, Weights
from fidal.federation.weights import pack
from fidal.learning.networks import Architecture, build
from fidal.learning.objectives.base import Optimiser
from fidal.learning.trainer import Training
from fidal.site.ledger import Ledger
from fidal.site.oracle import GroundTruth
from fidal.site.site import Setup, Site
from fidal.strategies import STRATEGIES
from fidal.types import OUTLIER

CLASSES = ("mel", "nv", "bcc", "df")


def make_benchmark(n: int = 60, sites: tuple[str, ...] = ("east", "west")) -> Benchmark:
    """n training and n/2 test vectors per site; the test images are all ID."""
    rng = np.random.default_rng(5)
    means = rng.normal(size=(len(CLASSES) + 1, 8)) * 3
    ids, where, split, label, inputs = [], [], [], [], []
    for site in sites:
        for i in range(n + n // 2):
            kind = TRAIN if i < n else TEST
            y = OUTLIER if kind == TRAIN and rng.random() < 0.33 else int(rng.integers(4))
            ids.append(f"{site}-secret-{rng.integers(10**9)}")
            where.append(site)
            split.append(kind)
            label.append(y)
            inputs.append(means[y] + rng.normal(size=8))
    manifest = Manifest(
        CLASSES, tuple(ids), np.array(where), np.array(split), np.array(label, dtype=np.int64)
    )
    vectors = np.array(inputs, dtype=np.float32)
    return Benchmark("toy", manifest, vectors, coverage=vectors.copy())


SETUP = Setup(
    federation="toy-federation",
    seed=3,
    architecture=Architecture(kind="linear"),
    training=Training(rounds=3, batch_size=8, optimiser=Optimiser(lr=0.01), device="cpu"),
    strategy=STRATEGIES["random"](),
    candidates=10_000,
)


def make_site(
    folder: Path, strategy: str = "random", candidates: int = 10_000, name: str = "east"
) -> Site:
    """A site with a ledger in `folder` and the truth behind its oracle."""
    data = site_data(make_benchmark(), name)
    setup = replace(SETUP, strategy=STRATEGIES[strategy](), candidates=candidates)
    folder.mkdir(parents=True, exist_ok=True)
    ledger = Ledger.open(folder / "ledger.sqlite", federation=setup.federation, site=name)
    truth = dict(zip(data.ids, data.labels.tolist(), strict=True))
    return Site(data, setup, ledger, GroundTruth(truth, len(data.classes)), folder)


def fresh(site: Site) -> Weights:
    """Untrained weights."""
    setup = site.setup
    network = build(setup.architecture, site.feed.shape, 4, setup.strategy.objective, seed=1)
    return pack(network.state_dict())


def warm_up(site: Site, budget: int = 12) -> None:
    """Round 0."""
    site.query(QueryRequest("toy-federation", 0, budget, None))


def train(site: Site, round: int = 0) -> Weights:
    """Three steps from untrained weights, with no other site to average with."""
    weights = fresh(site)
    for step in range(3):
        weights = site.train(TrainRequest("toy-federation", round, step, 3, weights)).weights
    return weights
