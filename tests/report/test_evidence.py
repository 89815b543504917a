from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch

from fidal.report.evidence import first_queries, last_queries, predictions
from fidal.report.frame import RunRows
from fidal.report.reading import read_folders
from fidal.rows import append
from fidal.site.reporting import PREDICTIONS
from fidal.storage import save_state
from tests.report.made import make_run


@pytest.fixture
def run(tmp_path: Path) -> RunRows:
    """A run whose site north kept the warm-up and two queries, east the warm-up only."""
    folder = make_run(tmp_path, "fidal")
    for site, rounds in (("north", (0, 1, 4, 5)), ("east", (0,))):
        own = folder / "sites" / site
        own.mkdir(parents=True)
        for round in rounds:
            asked = [] if round == 5 else [f"{site}-{round}-a", f"{site}-{round}-b"]
            append(
                own / "queries.jsonl",
                {"round": round, "ids": asked, "answers": [-1, None][: len(asked)]},
            )
            if round in (1, 4):
                scores = {"coverage": torch.tensor([0.25, 0.5, 0.75])}
                meta = {"ids": "\n".join((*asked, "c"))}
                save_state(own / f"scores-{round}.safetensors", scores, meta)
    (study,) = read_folders([tmp_path]).studies
    return study.runs[0]


def test_the_last_query_in_which_anything_was_asked(run: RunRows) -> None:
    (query,) = last_queries(run)
    assert (query.site, query.round) == ("north", 4)
    assert query.ids == ("north-4-a", "north-4-b", "c")
    assert query.asked == ("north-4-a", "north-4-b")
    assert query.answers == {"north-4-a": -1}  # b has no answer yet
    np.testing.assert_array_equal(query.scores["coverage"], [0.25, 0.5, 0.75])
    assert query.cut == 0.4


def test_the_warm_up_and_the_query_after_it(run: RunRows) -> None:
    ((warm_up, query),) = first_queries(run)
    assert (warm_up.round, warm_up.ids, warm_up.asked[0]) == (0, (), "north-0-a")
    assert np.isnan(warm_up.cut)
    assert (query.round, query.ids[0]) == (1, "north-1-a")


def test_a_folder_without_site_files_has_no_evidence(run: RunRows) -> None:
    nowhere = replace(run, folder=Path("nowhere"))
    assert last_queries(nowhere) == first_queries(nowhere) == ()
    assert predictions(nowhere, "north") is None


def test_predictions_of_a_site_without_test_images_are_empty(run: RunRows) -> None:
    file = run.folder / "sites" / "north" / PREDICTIONS
    save_state(file, {"predicted": torch.empty(0)}, {"round": "3", "ids": ""})
    found = predictions(run, "north")
    assert found is not None
    assert (found.round, found.ids, len(found.predicted)) == (3, "", 0)
