from pathlib import Path

from fidal.report.frame import Study
from fidal.report.reading import read_folders
from fidal.report.variations import usual, variations
from tests.report.made import make_run


def studies(root: Path, *settings: tuple[int, int]) -> tuple[Study, ...]:
    for budget, rounds in settings:
        make_run(root, "fidal", budget=budget, training={"rounds": rounds, "epochs": 1})
    return read_folders([root]).studies


def test_a_budget_and_an_epoch_sweep_share_their_cell(tmp_path: Path) -> None:
    found = studies(tmp_path, (50, 10), (150, 10), (500, 10), (500, 2), (500, 100))
    budget, epochs = variations(found)
    assert budget.titles == ["budget=50", "budget=150", "budget=500"]
    assert epochs.titles == ["training.rounds=2", "training.rounds=10", "training.rounds=100"]
    assert (budget.name, epochs.name) == (
        "budget at training.rounds=10",
        "training.rounds at budget=500",
    )
    assert budget.studies[2] is epochs.studies[1] is usual(found)


def test_a_full_grid_is_all_its_rows_and_columns(tmp_path: Path) -> None:
    lines = variations(studies(tmp_path, (50, 2), (50, 10), (150, 2), (150, 10)))
    assert [line.name for line in lines] == [
        "budget at training.rounds=2",
        "budget at training.rounds=10",
        "training.rounds at budget=50",
        "training.rounds at budget=150",
    ]


def test_what_differs_in_two_fields_at_once_is_one_line(tmp_path: Path) -> None:
    (line,) = variations(studies(tmp_path, (50, 2), (150, 10)))
    assert (line.field, line.fixed) == ("setting", "")
    assert line.values == ("budget=50, training.rounds=2", "budget=150, training.rounds=10")


def test_one_study_varies_nothing(study: Study) -> None:
    assert variations([study]) == ()
    assert usual([study]) is study


def test_without_a_shared_cell_the_one_with_most_runs_stands_for_all(tmp_path: Path) -> None:
    for seed in range(2):
        make_run(tmp_path, "fidal", seed, budget=150)
    make_run(tmp_path, "fidal", budget=50)
    found = read_folders([tmp_path]).studies
    assert usual(found).setting == "budget=150"
