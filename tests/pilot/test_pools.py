from pathlib import Path
from typing import Any

import numpy as np
import pytest

from fidal.data.manifest import read_manifest
from fidal.experiment.config import ConfigError, make_experiment
from fidal.pilot.pools import site_pools
from fidal.rows import read
from tests.pilot.made import federation
from tests.small import go


def vectors(folder: Path) -> dict[str, Any]:
    with np.load(folder / "g.npz") as file:
        return dict(zip(file["id"].tolist(), file["embedding"].astype(np.float32), strict=True))


def test_a_benchmark_s_warm_up_is_round_0_of_a_run(tmp_path: Path) -> None:
    config = federation(tmp_path)
    run = go({**config, "rounds": 1, "oracle_error": 0.1}, tmp_path / "run")
    of = vectors(tmp_path)
    experiment = make_experiment({**config, "oracle_error": 0.1})
    for pool in site_pools(experiment, tmp_path / "cache"):
        first, second = read(run.site(pool.site) / "queries.jsonl")
        answered = list(zip(first["ids"], first["answers"], strict=True))  # type: ignore[arg-type]
        inside = [of[sample] for sample, answer in answered if answer >= 0]  # type: ignore[operator,index]
        outside = [of[sample] for sample, answer in answered if answer < 0]  # type: ignore[operator,index]
        assert np.array_equal(pool.labelled.numpy(), inside)
        assert np.array_equal(pool.outliers.numpy(), outside)
        assert pool.labels.tolist() == [a for _, a in answered if a >= 0]  # type: ignore[operator]
        assert len(pool.candidates) == 60 - 24
        left = {row.tobytes() for row in pool.candidates.numpy()}
        assert all(of[sample].tobytes() in left for sample in second["ids"])  # type: ignore[union-attr,index]


def test_a_benchmark_s_truth_is_that_of_its_candidates(tmp_path: Path) -> None:
    config = federation(tmp_path)
    manifest = read_manifest(tmp_path / "manifest.csv")
    label = dict(zip(manifest.ids, manifest.label.tolist(), strict=True))
    of = {vector.tobytes(): sample for sample, vector in vectors(tmp_path).items()}
    for pool in site_pools(make_experiment(config), tmp_path / "cache"):
        assert pool.foreign is not None
        samples = [of[row.tobytes()] for row in pool.candidates.numpy()]
        assert pool.foreign.tolist() == [label[sample] < 0 for sample in samples]


def test_of_a_site_s_own_pool_the_labelled_rows_are_the_warm_up(tmp_path: Path) -> None:
    config = federation(tmp_path, unlabelled=40, test=False)
    for pool in site_pools(make_experiment(config), tmp_path / "cache"):
        assert pool.foreign is None
        assert len(pool.candidates) == 40
        assert len(pool.labelled) + len(pool.outliers) == 20
        assert len(pool.outliers) > 0


def test_at_most_so_many_candidates_are_scored(tmp_path: Path) -> None:
    config = {**federation(tmp_path), "candidates": 10}
    pools = site_pools(make_experiment(config), tmp_path / "cache")
    assert [len(pool.candidates) for pool in pools] == [10, 10]


@pytest.mark.parametrize(
    ("unlabelled", "change", "says"),
    [
        (0, {"embeddings": "none"}, "needs the coverage features.*set benchmark.encoder or"),
        (60, {}, "site 'east': none of its 60 training images has a label"),
        (0, {"budget": 60}, "all 60 training images are in the warm-up.*lower the budget"),
    ],
)
def test_where_there_is_nothing_to_judge(
    tmp_path: Path, unlabelled: int, change: dict[str, Any], says: str
) -> None:
    config = federation(tmp_path, unlabelled=unlabelled)
    config["budget"] = change.get("budget", config["budget"])
    config["benchmark"] |= {k: v for k, v in change.items() if k != "budget"}
    with pytest.raises(ConfigError, match=says):
        site_pools(make_experiment(config), tmp_path / "cache")
