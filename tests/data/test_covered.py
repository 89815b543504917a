from pathlib import Path
from typing import Any

import numpy as np
import pytest

from fidal.data.embeddings import write_embeddings
from fidal.data.folder import Folder
from fidal.encoders.scattering import Scattering
from tests.small import images


@pytest.fixture
def manifest(tmp_path: Path) -> Path:
    return images(tmp_path / "data", train=6, test=2)


def source(manifest: Path, **fields: Any) -> Folder:
    return Folder(manifest=manifest, size=32, **fields)


def test_at_hand_are_the_images_and_what_the_cache_holds(manifest: Path, tmp_path: Path) -> None:
    cache = tmp_path / "cache"
    found = source(manifest, encoder=Scattering(), view="embeddings")
    assert found.at_hand(cache).coverage is None
    assert not (cache / "embeddings").exists()
    whole = found.load(cache)
    kept = found.at_hand(cache)
    assert kept.inputs.shape == (16, 32, 32, 3) and kept.coverage is not None
    np.testing.assert_array_equal(kept.coverage, whole.inputs)
    assert kept.manifest.ids == whole.manifest.ids


def test_at_hand_is_what_a_file_of_embeddings_holds(manifest: Path, tmp_path: Path) -> None:
    ids = source(manifest).load(tmp_path).manifest.ids
    rows = np.random.default_rng(0).normal(size=(16, 5)).astype(np.float32)
    file = tmp_path / "rows.npz"
    write_embeddings(file, ids, rows)
    found = source(manifest, embeddings=file)
    np.testing.assert_array_equal(found.at_hand(tmp_path).coverage, rows)
    file.unlink()
    assert found.at_hand(tmp_path).coverage is None
    assert found.at_hand(tmp_path).inputs.shape == (16, 32, 32, 3)


def test_without_any_encoder_there_is_none(manifest: Path, tmp_path: Path) -> None:
    assert source(manifest).at_hand(tmp_path).coverage is None
