from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from fidal.data.benchmark import TEST, TRAIN, Benchmark, Manifest, PromptScores
from fidal.data.sites import site_data
from fidal.types import OUTLIER, UNLABELLED

# Row, id, site, split, label: ids are not in the order of the rows.
ROWS = (
    ("d", "east", TRAIN, 1),
    ("a", "east", TEST, 0),
    ("c", "east", TRAIN, OUTLIER),
    ("b", "east", TEST, OUTLIER),
    ("f", "west", TRAIN, UNLABELLED),
    ("e", "west", TEST, 2),
)


def benchmark(order: tuple[int, ...] = (0, 1, 2, 3, 4, 5)) -> Benchmark:
    ids, site, split, label = zip(*(ROWS[i] for i in order), strict=True)
    manifest = Manifest(
        ("x", "y", "z"), ids, np.array(site), np.array(split), np.array(label, dtype=np.int64)
    )
    numbers = np.array(order)
    inputs = np.broadcast_to(numbers[:, None, None, None], (6, 2, 2, 3)).astype(np.uint8)
    rows = numbers[:, None].astype(np.float32)
    return Benchmark("toy", manifest, inputs, rows, PromptScores(rows + 10, (True,)))


@pytest.mark.parametrize("order", [(0, 1, 2, 3, 4, 5), (4, 2, 0, 5, 3, 1), (1, 3, 2, 0, 5, 4)])
def test_a_site_has_its_own_rows_in_the_order_of_ids_whatever_the_order_on_disk(
    order: tuple[int, ...],
) -> None:
    east = site_data(benchmark(order), "east")
    assert east.ids == ("a", "b", "c", "d") and east.site == "east"
    assert east.labels.tolist() == [0, OUTLIER, OUTLIER, 1]
    assert east.inputs[:, 0, 0, 0].tolist() == [1, 3, 2, 0]
    assert east.coverage is not None and east.prompts is not None
    assert east.coverage[:, 0].tolist() == [1, 3, 2, 0]
    assert east.prompts.logits[:, 0].tolist() == [11, 13, 12, 10]
    assert [east.ids[row] for row in east.train] == ["c", "d"]


def test_only_images_with_a_class_are_tested_on() -> None:
    east = site_data(benchmark(), "east")
    assert [east.ids[row] for row in east.test] == ["a"]


def test_what_a_benchmark_does_not_have_a_site_does_not_have() -> None:
    bare = replace(benchmark(), coverage=None, prompts=None)
    east = site_data(bare, "east")
    assert east.coverage is None and east.prompts is None


def test_pixels_that_lie_side_by_side_stay_on_the_disk(tmp_path: Path) -> None:
    whole = benchmark((1, 3, 2, 0, 5, 4))  # sites in one piece each, in the order of ids
    np.save(tmp_path / "pixels.npy", whole.inputs)
    mapped = replace(whole, inputs=np.load(tmp_path / "pixels.npy", mmap_mode="r"))
    for site in ("east", "west"):
        assert np.shares_memory(site_data(mapped, site).inputs, mapped.inputs)


def test_when_images_arrive_is_in_the_order_of_the_sites_rows() -> None:
    whole = benchmark()
    assert site_data(whole, "east").since is None
    since = np.array([4, 0, 2, 0, 0, 0])  # of d, a, c, b, f, e
    data = site_data(replace(whole, manifest=replace(whole.manifest, since=since)), "east")
    assert data.since is not None
    assert dict(zip(data.ids, data.since.tolist(), strict=True)) == {"a": 0, "b": 0, "c": 2, "d": 4}
