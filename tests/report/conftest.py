from pathlib import Path

import pytest

from fidal.data.manifest import read_manifest
from fidal.report.frame import Study
from fidal.report.reading import read_folders
from tests.report.made import CLASSES, SITES, make_images, make_run, make_site_files
from tests.small import go, images, table

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


@pytest.fixture(scope="session")
def pictured(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Runs on a folder of images, where FIDAL's sites have kept their last queries."""
    root = tmp_path_factory.mktemp("pictured")
    benchmark = make_images(root / "data")
    manifest = read_manifest(root / "data" / "manifest.csv", CLASSES)
    labels = dict(zip(manifest.ids, manifest.label.tolist(), strict=True))
    rows = zip(manifest.ids, manifest.site.tolist(), manifest.split.tolist(), strict=True)
    pools: dict[str, list[str]] = {site: [] for site in SITES}
    for sample, site, split in rows:
        if split == "train":
            pools[site].append(sample)
    for strategy in ("random", "fidal"):
        folder = make_run(root / "runs", strategy, benchmark=benchmark)
        if strategy == "fidal":
            make_site_files(folder, pools, labels)
    return root


@pytest.fixture(scope="session")
def real(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two real runs on coloured squares, with a gate; the manifest tells sex and age. The cache is
    data/cache, the runs are in runs."""
    root = tmp_path_factory.mktemp("real")
    manifest = images(root / "data", train=40, test=40)
    head, *lines = manifest.read_text().splitlines()
    told = [
        f"{line},{'fm'[i % 2]},{20 + 7 * i % 60 if i % 10 else ''}" for i, line in enumerate(lines)
    ]
    manifest.write_text("\n".join([f"{head},sex,age", *told]) + "\n")
    source = {"name": "folder", "manifest": str(manifest), "size": 32, "encoder": "scattering"}
    for strategy in ("random", "fidal"):
        config = table(manifest, strategy=strategy, rounds=1, budget=16, benchmark=source)
        go(config, root / "runs" / strategy)
    return root
