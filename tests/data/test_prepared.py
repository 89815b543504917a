from pathlib import Path

import numpy as np
import pytest

from fidal.data.benchmark import DataAbsent
from fidal.data.prepared import FedCamelyon, FedIsic
from fidal.data.preparing.prepare import prepare
from fidal.data.sites import site_data
from fidal.types import OUTLIER
from tests.data.preparing.made import Made, files, pixels_of


@pytest.fixture
def downloads(tmp_path: Path) -> Path:
    return files(tmp_path / "downloads")


@pytest.fixture
def root(downloads: Path, tmp_path: Path) -> Path:
    prepare(Made(), Made().collect([downloads]), tmp_path / "out")
    return tmp_path / "out"


def test_a_benchmark_is_what_was_prepared(downloads: Path, root: Path, tmp_path: Path) -> None:
    benchmark = FedIsic(root=root).load(tmp_path / "cache")
    manifest = benchmark.manifest
    assert benchmark.name == "fedisic"
    assert manifest.classes == ("dense", "fatty")
    assert isinstance(benchmark.inputs, np.memmap)
    assert benchmark.inputs.shape == (6, 4, 6, 1)
    assert benchmark.coverage is None
    for row, image in enumerate(manifest.columns["image"].tolist()):
        np.testing.assert_array_equal(benchmark.inputs[row], pixels_of(downloads / image))
    assert manifest.columns["kind"][manifest.label == OUTLIER].tolist() == ["blur"]
    for site in manifest.sites:
        assert np.shares_memory(site_data(benchmark, site).inputs, benchmark.inputs)


def test_another_benchmarks_folder_is_refused(root: Path, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"benchmark\.root: .*out holds fedisic, not fedcamelyon"):
        FedCamelyon(root=root).load(tmp_path)
    with pytest.raises(DataAbsent, match="`fidal data prepare"):
        FedIsic(root=tmp_path).load(tmp_path)


def test_coverage_comes_from_a_file_and_may_be_all_that_is_seen(root: Path, tmp_path: Path) -> None:
    ids = FedIsic(root=root).load(tmp_path).manifest.ids
    vectors = np.arange(12, dtype=np.float32).reshape(6, 2)
    np.savez(tmp_path / "e.npz", id=np.array(ids[::-1]), embedding=vectors)
    source = FedIsic(root=root, embeddings=tmp_path / "e.npz")
    benchmark = source.load(tmp_path)
    np.testing.assert_array_equal(benchmark.coverage, vectors[::-1])
    assert benchmark.inputs.ndim == 4
    probe = FedIsic(root=root, embeddings=tmp_path / "e.npz", view="embeddings").load(tmp_path)
    np.testing.assert_array_equal(probe.inputs, vectors[::-1])
    np.testing.assert_array_equal(probe.coverage, vectors[::-1])
    with pytest.raises(ValueError, match="view: there are no embeddings to see"):
        FedIsic(root=root, view="embeddings")
