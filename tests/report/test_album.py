from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch

from fidal.data.benchmark import Benchmark, Manifest
from fidal.report.album import Album, open_album
from fidal.types import OUTLIER, UNLABELLED
from tests.small import images

PIXELS = np.arange(3 * 2 * 2 * 3, dtype=np.uint8).reshape(3, 2, 2, 3)
MANIFEST = Manifest(
    classes=("nv", "mel"),
    ids=("a", "b", "c"),
    site=np.array(["x"] * 3),
    split=np.array(["train"] * 3),
    label=np.array([1, OUTLIER, UNLABELLED]),
    columns={"kind": np.array(["id", "ink", ""])},
)
ALBUM = Album(Benchmark("made", MANIFEST, PIXELS, np.eye(3, dtype=np.float32)))


def test_labels_words_and_pictures_by_id() -> None:
    assert [ALBUM.label(sample) for sample in "abcz"] == [1, OUTLIER, UNLABELLED, UNLABELLED]
    assert [ALBUM.word(sample) for sample in "abc"] == ["mel", "ink", "?"]
    np.testing.assert_array_equal(ALBUM.picture("b"), PIXELS[1])
    assert ALBUM.picture("z") is None


def test_outliers_of_no_known_kind_are_ood() -> None:
    plain = Album(replace(ALBUM.benchmark, manifest=replace(MANIFEST, columns={})))
    assert plain.word("b") == "OOD"


def test_features_come_in_the_order_asked() -> None:
    assert torch.equal(ALBUM.coverage(["c", "a"]), torch.eye(3)[[2, 0]])
    assert ALBUM.coverage([]).shape == (0, 3)
    with pytest.raises(ValueError, match="2 images of the run, 'y' among them"):
        ALBUM.coverage(["a", "y", "z"])


def test_a_run_s_benchmark_is_opened_from_its_configuration(tmp_path: Path) -> None:
    manifest = images(tmp_path / "data", train=4, test=2)
    config = {"benchmark": {"name": "folder", "manifest": str(manifest), "size": 16}}
    album = open_album(config, tmp_path / "cache")
    assert album.benchmark.manifest.sites == ("east", "west")
    picture = album.picture(album.benchmark.manifest.ids[0])
    assert picture is not None and picture.shape == (16, 16, 3)


def test_an_unknown_benchmark_is_a_sentence(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="unknown benchmark 'fedhamm'; did you mean 'fedham'"):
        open_album({"benchmark": {"name": "fedhamm"}}, tmp_path)
