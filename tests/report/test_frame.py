from pathlib import Path
from typing import Any

import numpy as np
import pytest

from fidal.report.frame import Study, result
from fidal.rows import read


def test_values_are_the_rows_in_place(study: Study) -> None:
    values = study.values("badge", "bma_pooled")
    assert values.shape == (3, 6)
    for s, seed in enumerate(study.seeds):
        run = study.run("badge", seed)
        assert run is not None
        for row in read(run.folder / "rounds.jsonl"):
            if row["site"] == "*":
                assert values[s, int(str(row["round"]))] == row["bma_pooled"]


def test_missing_runs_and_rounds_are_nan_and_stay_in_place(patchy: Study) -> None:
    entropy, badge = patchy.values("entropy", "purity"), patchy.values("badge", "purity")
    assert np.isnan(entropy[1]).all() and np.isfinite(entropy[[0, 2]]).all()
    assert np.isnan(badge).tolist() == [[False] * 6, [False] * 6, [False] * 4 + [True] * 2]
    assert patchy.run("entropy", 1) is None
    assert patchy.spread("entropy", "purity", 5).seeds == 2


def test_a_field_that_no_row_has_is_nan(study: Study) -> None:
    assert np.isnan(study.values("random", "gate.cut", "north")).all()
    assert (study.values("fidal", "gate.cut", "north")[:, 1:] == 0.4).all()


def test_recalls_are_per_class(study: Study) -> None:
    recalls = study.recalls("fidal", "south")
    assert recalls.shape == (3, 6, 8)
    # Every class has test images at every site, so a site's BMA is the mean of its recalls.
    np.testing.assert_allclose(recalls.mean(2), study.values("fidal", "bma", "south"))


def test_a_null_is_no_number(runs: Path) -> None:
    rows: list[dict[str, Any]] = [dict(row) for row in read(next(runs.glob("*/rounds.jsonl")))]
    row = {**rows[0], "bma": None, "recall": [None, *[0.5] * 7]}
    found = result(row)
    assert np.isnan(found.numbers["bma"]) and np.isnan(found.recall[0])
    assert found.recall[1] == 0.5


def test_a_row_that_cannot_be_placed_names_what_it_lacks() -> None:
    with pytest.raises(ValueError, match=r"without run, benchmark.*bma"):
        result({"site": "north", "round": 1, "classes": [], "recall": [], "seed": 0})


def test_some_rounds_end_with_the_last(study: Study) -> None:
    assert study.some_rounds(9) == [1, 2, 3, 4, 5]
    assert study.some_rounds(3) == [1, 3, 5]
    assert study.some_rounds(1) == [5]
