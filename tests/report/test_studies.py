from pathlib import Path
from typing import Any

import numpy as np
import pytest

from fidal.report.figures import trajectories
from fidal.report.frame import Study
from fidal.report.reading import read_folders
from fidal.report.tables.headline import headline
from fidal.report.tables.side_by_side import side_by_side
from tests.report.made import edit, make_run


def supervise(root: Path, seed: int = 0, **fields: Any) -> None:
    """A run whose warm-up asks for the whole pool, as table1_*_supervised.toml does."""

    def everything(row: dict[str, Any]) -> None:
        row.update(asked=row["candidates"], bma_pooled=0.8 + 0.02 * seed)

    edit(make_run(root, "random", seed, upto=0, budget=1_000_000, **fields), everything)


@pytest.fixture
def root(tmp_path: Path) -> Path:
    for seed in (0, 1):
        for strategy in ("random", "fidal"):
            make_run(tmp_path, strategy, seed)
        supervise(tmp_path, seed, rounds=1)
    return tmp_path


def test_a_model_of_all_labels_is_a_ceiling_and_no_study(root: Path) -> None:
    reading = read_folders([root])
    (study,) = reading.studies
    assert study.name == "phantom" and study.methods == ("random", "fidal")
    assert reading.notices == ()
    ceiling = study.ceiling("bma_pooled")
    assert ceiling is not None and ceiling.mean == pytest.approx(0.81) and ceiling.seeds == 2


def test_the_ceiling_is_a_dashed_line_and_an_unranked_line(root: Path) -> None:
    (study,) = read_folders([root]).studies
    (line,) = [x for x in trajectories.draw(study).axes[0].lines if x.get_linestyle() == "--"]
    np.testing.assert_allclose(line.get_ydata(), 81)
    last = headline(study, "final").cells()[-1]
    assert [cell.text for cell in last][:3] == ["Fully supervised", "–", "81.0 ± 1.4"]
    assert not any(cell.mark for cell in last)


def test_side_by_side_it_stands_before_the_paper_s(root: Path) -> None:
    for strategy in ("random", "fidal"):
        make_run(root, strategy, benchmark={"name": "fedisic"})
    table = side_by_side(read_folders([root]).studies, "best")
    ours, theirs = table.cells()[-2:]
    assert [cell.text for cell in ours] == [
        *("Fully supervised", "–", "–", "81.00 ± 1.41", "–", "–", "–")
    ]
    assert theirs[0].text == "Fully supervised, in the paper"


def test_of_another_network_it_is_a_study_s_no_more(root: Path) -> None:
    make_run(root, "fidal", network={"kind": "linear"})
    studies = {study.setting: study for study in read_folders([root]).studies}
    assert len(studies) == 2
    found = {name: study.supervised is not None for name, study in studies.items()}
    assert sorted(found.values()) == [False, True]


def test_of_several_trainings_the_same_is_taken(root: Path) -> None:
    other = {"rounds": 3, "epochs": 1}
    supervise(root, 5, rounds=1, training=other)
    make_run(root, "fidal", training=other)
    for study in read_folders([root]).studies:
        assert study.supervised is not None
        whole, own = (one.runs[0].config["training"] for one in (study.supervised, study))
        assert whole == own


def test_alone_it_is_a_study_like_any_other(tmp_path: Path) -> None:
    supervise(tmp_path)
    (study,) = read_folders([tmp_path]).studies
    assert study.main == ("random",) and study.supervised is None


def test_a_pool_that_is_not_asked_whole_is_no_ceiling(study: Study) -> None:
    assert not any(run.labels_everything for run in study.runs)
    assert study.ceiling("bma_pooled") is None
