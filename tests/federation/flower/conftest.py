"""One SuperLink and three SuperNodes for all tests of this session that need them."""

import multiprocessing
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.federation.flower.cluster import SITES, Cluster, cluster, in_process
from tests.small import go, images


@pytest.fixture(scope="session")
def manifest(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return images(tmp_path_factory.mktemp("images"), sites=SITES)


@pytest.fixture(scope="session")
def running(tmp_path_factory: pytest.TempPathFactory, manifest: Path) -> Iterator[Cluster]:
    with cluster(tmp_path_factory.mktemp("real"), manifest) as made:
        made.start_superlink()
        for name in SITES:
            made.start_node(name)
        yield made


@pytest.fixture
def real(running: Cluster) -> Iterator[Cluster]:
    yield running
    running.end_sites()


@pytest.fixture(scope="session")
def expected(tmp_path_factory: pytest.TempPathFactory, running: Cluster, manifest: Path) -> Path:
    """The in-process run of the experiment that `renew` gives by default.

    In a process of its own, like each site's: what other tests did to the threads of this one
    would show in the last bits.
    """
    folder = tmp_path_factory.mktemp("expected") / "run"
    running.renew(manifest)
    experiment = in_process(manifest, running.coordinator)
    process = multiprocessing.get_context("spawn").Process(target=go, args=(experiment, folder))
    process.start()
    process.join()
    assert process.exitcode == 0
    return folder
