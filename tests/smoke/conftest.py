"""experiments/smoke.toml, made small: all fourteen strategies, run as a sweep, and their report."""

from dataclasses import dataclass
from pathlib import Path

import pytest

from fidal.experiment.config import Experiment, read_table, with_settings
from fidal.experiment.sweep import expand
from tests.cli.calling import call

FILE = Path(__file__).parents[2] / "experiments" / "smoke.toml"
SMALL = (
    "rounds=2",
    "budget=8",
    "benchmark.train_per_site=40",
    "benchmark.test_per_site=16",
    "benchmark.pixels=32",
    "training.rounds=3",
    "training.batch_size=8",
    "training.device=cpu",
)


@dataclass(frozen=True)
class Smoke:
    """What the two commands left."""

    experiments: list[Experiment]
    runs: Path
    report: Path


@pytest.fixture(scope="session")
def smoke(tmp_path_factory: pytest.TempPathFactory) -> Smoke:
    base = tmp_path_factory.mktemp("smoke")
    settings = [word for setting in SMALL for word in ("--set", setting)]
    cache = ("--cache", base / "cache")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("OMP_NUM_THREADS", "1")
        assert call("sweep", FILE, *settings, "--out", base / "runs", "--jobs", 2, *cache) == 0
        assert call("report", base / "runs", "--out", base / "report", *cache) == 0
    experiments = expand(with_settings(read_table(FILE), SMALL))
    return Smoke(experiments, base / "runs", base / "report")
