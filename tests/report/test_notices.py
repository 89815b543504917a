from dataclasses import replace
from pathlib import Path

from fidal.report.frame import Study
from fidal.report.notices import notices_of
from fidal.report.reading import read_folders
from tests.report.made import make_run


def test_nothing_to_say_of_a_whole_study(study: Study) -> None:
    assert notices_of(study) == ()


def test_the_gravest_come_first(patchy: Study) -> None:
    unfinished, missing = notices_of(patchy)
    assert unfinished.startswith("BADGE, seed 2 has finished 3 of 5 rounds")
    assert missing == (
        "Entropy has no run of seed 1: its means are over 2 of 3 seeds and are marked as such."
    )


def test_many_places_without_a_number_are_counted(tmp_path: Path) -> None:
    make_run(tmp_path, "fidal")
    (study,) = read_folders([tmp_path]).studies
    (run,) = study.runs
    blank = tuple(
        replace(r, numbers={**r.numbers, "purity": float("nan")}) if r.round > 2 else r
        for r in run.results
    )
    text = notices_of(replace(study, runs=(replace(run, results=blank),)))[0]
    assert "no number was recorded for purity of round 3 at north" in text
    assert "and 12 more. It is left blank, and in no mean." in text  # 3 rounds, 5 places each
