import json
import shutil
from pathlib import Path
from typing import Any

import torch

from fidal.report.reading import Reading, read_folders
from fidal.rows import append
from fidal.storage import save_state
from tests.report.made import CLASSES, edit, make_run


def told(reading: Reading, *words: str) -> str:
    """The one notice that holds all the words."""
    (notice,) = [text for text in reading.notices if all(word in text for word in words)]
    return notice


def test_a_whole_study_needs_no_notice(runs: Path) -> None:
    reading = read_folders([runs])
    (study,) = reading.studies
    assert reading.notices == ()
    assert study.name == study.benchmark == "phantom"
    assert study.methods == study.main == ("random", "entropy", "badge", "fidal")
    assert study.seeds == (0, 1, 2)
    assert list(study.rounds) == [0, 1, 2, 3, 4, 5]
    assert study.sites == ("north", "east", "south", "west")
    assert study.classes == CLASSES


def test_a_run_named_twice_is_read_once(runs: Path) -> None:
    one = next(runs.iterdir())
    assert len(read_folders([runs, one, runs / "."]).studies[0].runs) == 12


def test_an_empty_folder_and_an_absent_one_are_named(tmp_path: Path) -> None:
    reading = read_folders([tmp_path, tmp_path / "nowhere"])
    assert reading.studies == ()
    assert "is empty or holds no run" in told(reading, f"{tmp_path} ", "no run")
    assert "does not exist" in told(reading, "nowhere does")
    assert told(reading, "no result to show yet")


def test_a_run_before_its_first_round_is_left_out_by_name(tmp_path: Path) -> None:
    folder = make_run(tmp_path, "fidal")
    (folder / "rounds.jsonl").unlink()
    assert "first round" in told(read_folders([tmp_path]), "Left out", folder.name)


def test_an_unfinished_run_is_told_apart_from_an_exhausted_one(tmp_path: Path) -> None:
    cut = make_run(tmp_path, "random", upto=2)
    spent = make_run(tmp_path, "fidal", upto=3)
    save_state(spent / "state.safetensors", {"weight": torch.zeros(3, 4)}, {"done": "True"})
    reading = read_folders([tmp_path])
    assert str(cut) in told(reading, "Random, seed 0", "2 of 5 rounds", "fidal resume")
    assert told(reading, "FIDAL, seed 0", "3 of 5 rounds", "exhausted")
    sizes = {run.method: run.weight_bytes for run in reading.studies[0].runs}
    assert sizes == {"random": 0, "fidal": 48}


def test_a_failed_run_is_told_with_its_reason(tmp_path: Path) -> None:
    early, late, begun = (
        make_run(tmp_path, "random"),
        make_run(tmp_path, "fidal", upto=2),
        make_run(tmp_path, "badge", upto=3),
    )
    (early / "rounds.jsonl").unlink()
    for folder in (early, late, begun):
        row = {"kind": "refused", "reason": "the disk is full.", "round": 2, "detail": ""}
        append(folder / "failures.jsonl", row)
    append(begun / "failures.jsonl", {"kind": "retried"})
    reading = read_folders([tmp_path])
    assert "failed before its first round" in told(reading, early.name, "the disk is full")
    assert told(reading, "FIDAL, seed 0", "failed after 2 of 5 rounds: the disk is full.")
    assert "it is still going, or was cut" in told(reading, "BADGE, seed 0")


def test_missing_seeds_of_many_methods_are_one_sentence(tmp_path: Path) -> None:
    for seed in (0, 1):
        make_run(tmp_path, "fidal", seed)
    for strategy in ("random", "entropy", "badge", "feal", "pal"):
        make_run(tmp_path, strategy)
    text = told(read_folders([tmp_path]), "no run of seed 1")
    assert "Random, Entropy, BADGE and 2 more have no run" in text and "1 of 2 seeds" in text


def test_a_missing_seed_is_told(tmp_path: Path) -> None:
    for seed in (0, 1):
        make_run(tmp_path, "fidal", seed)
    make_run(tmp_path, "random", 1)
    assert "1 of 2 seeds" in told(read_folders([tmp_path]), "Random", "no run of seed 0")


def test_a_single_seed_is_told(tmp_path: Path) -> None:
    make_run(tmp_path, "fidal")
    assert told(read_folders([tmp_path]), "one seed only", "significant")


def test_a_score_without_a_number_is_told(tmp_path: Path) -> None:
    folder = make_run(tmp_path, "fidal")

    def spoil(row: dict[str, Any]) -> None:
        if row["round"] == 2 and row["site"] == "east":
            row["bma"] = None

    edit(folder, spoil)
    assert told(read_folders([tmp_path]), "FIDAL, seed 0", "no number", "bma of round 2 at east.")


def test_rows_of_another_schema_are_left_out(tmp_path: Path) -> None:
    make_run(tmp_path, "random")
    folder = make_run(tmp_path, "fidal")
    edit(folder, lambda row: row.update(schema=99))
    reading = read_folders([tmp_path])
    assert "schema 99" in told(reading, "Left out", folder.name)
    assert reading.studies[0].methods == ("random",)


def test_rows_that_lack_a_field_are_left_out(tmp_path: Path) -> None:
    folder = make_run(tmp_path, "fidal")
    edit(folder, lambda row: row.pop("purity"))
    assert "without purity" in told(read_folders([tmp_path]), "Left out", folder.name)


def test_a_damaged_or_foreign_configuration_is_left_out(tmp_path: Path) -> None:
    damaged, foreign = make_run(tmp_path, "fidal"), make_run(tmp_path, "random")
    (damaged / "config.json").write_text("{")
    (foreign / "config.json").write_text(json.dumps({"seed": 1}))
    reading = read_folders([tmp_path])
    assert told(reading, damaged.name, "damaged")
    assert told(reading, foreign.name, "lacks benchmark, strategy")


def test_benchmarks_stand_apart(tmp_path: Path) -> None:
    make_run(tmp_path, "fidal")
    make_run(tmp_path, "fidal", benchmark={"name": "fedham"}, classes=CLASSES[:2])
    reading = read_folders([tmp_path])
    assert [study.name for study in reading.studies] == ["fedham", "phantom"]
    assert [study.measure for study in reading.studies] == ["accuracy", "bma"]
    assert told(reading, "different benchmarks")


def test_settings_of_one_benchmark_stand_apart_in_their_order(tmp_path: Path) -> None:
    for budget in (150, 50):
        make_run(tmp_path, "fidal", budget=budget)
    names = [study.name for study in read_folders([tmp_path]).studies]
    assert names == ["phantom (budget=50)", "phantom (budget=150)"]


def test_variants_of_a_strategy_are_told_and_one_stands_for_them(tmp_path: Path) -> None:
    base = {"name": "stranger", "weight": 1.0, "gate": {"name": "otsu"}}
    make_run(tmp_path, base)
    make_run(tmp_path, {**base, "gate": None})
    make_run(tmp_path, {**base, "weight": 0.0})
    make_run(tmp_path, "random")
    reading = read_folders([tmp_path])
    (study,) = reading.studies
    assert study.main == ("random", "stranger")
    assert set(study.methods) == {
        "random",
        "stranger",
        "stranger (gate=none)",
        "stranger (weight=0)",
    }
    assert told(reading, "3 variants", "'stranger'")


def test_the_same_experiment_twice_counts_once(tmp_path: Path) -> None:
    folder = make_run(tmp_path, "fidal")
    shutil.copytree(folder, tmp_path / "copy")
    reading = read_folders([tmp_path])
    assert "(FIDAL, seed 0)" in told(reading, "there twice", "Left out", str(folder))
    assert len(reading.studies[0].runs) == 1
