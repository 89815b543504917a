from pathlib import Path

import pytest

from fidal.report.frame import Study
from fidal.report.reading import read_folders
from tests.report.made import make_run

STRATEGIES = ("fidal", "random", "entropy", "badge")


@pytest.fixture(scope="session")
def runs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Four strategies, three seeds, four sites, five rounds, eight classes."""
    root = tmp_path_factory.mktemp("runs")
    for strategy in STRATEGIES:
        for seed in range(3):
            make_run(root, strategy, seed)
    return root


@pytest.fixture(scope="session")
def study(runs: Path) -> Study:
    (only,) = read_folders([runs]).studies
    return only


@pytest.fixture(scope="session")
def patchy(tmp_path_factory: pytest.TempPathFactory) -> Study:
    """Entropy lacks seed 1, and BADGE's seed 2 has finished three of five rounds."""
    root = tmp_path_factory.mktemp("patchy")
    for strategy in STRATEGIES:
        for seed in range(3):
            if (strategy, seed) != ("entropy", 1):
                make_run(root, strategy, seed, upto=3 if (strategy, seed) == ("badge", 2) else None)
    (only,) = read_folders([root]).studies
    return only
