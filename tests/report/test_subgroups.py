from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from fidal.data.benchmark import Benchmark, Manifest
from fidal.experiment.metrics import balanced_accuracy
from fidal.report.album import Album
from fidal.report.evidence import predictions
from fidal.report.extras import Albums
from fidal.report.frame import Study
from fidal.report.reading import read_folders
from fidal.report.subgroups import NOT_RECORDED, banded, groups_of, subgroups
from fidal.site.reporting import PREDICTIONS


def manifest(**columns: list[str]) -> Manifest:
    n = len(next(iter(columns.values())))
    return Manifest(
        classes=("a", "b"),
        ids=tuple(f"i{row}" for row in range(n)),
        site=np.array(["x"] * n),
        split=np.array(["test"] * n),
        label=np.arange(n) % 2,
        columns={name: np.array(words) for name, words in columns.items()},
    )


def test_groups_are_the_values_of_columns_that_tell_groups() -> None:
    found = manifest(
        sex=["f", "f", "m", "", "m", "f"],
        all_alike=["s"] * 6,
        file=[f"f{i}.png" for i in range(6)],
        word_for_the_class=["A", "B"] * 3,
        skin=["VI", "I", "VI", "I", "I", "VI"],
    )
    many = replace(found, columns={**found.columns, "file": np.array([f"{i}" for i in range(6)])})
    groups = [(column, value, rows.tolist()) for column, value, rows in groups_of(many)]
    assert [group for group in groups if group[0] in ("sex", "skin")] == [
        ("sex", "f", [0, 1, 5]),
        ("sex", "m", [2, 4]),
        ("sex", NOT_RECORDED, [3]),
        ("skin", "I", [1, 3, 4]),
        ("skin", "VI", [0, 2, 5]),
    ]
    assert {group[0] for group in groups}.isdisjoint({"all_alike", "word_for_the_class"})


def test_more_values_than_groups_are_no_groups() -> None:
    words = manifest(file=[f"image-{i}" for i in range(12)])
    assert list(groups_of(words)) == []


def test_training_images_and_outliers_are_in_no_group() -> None:
    found = manifest(sex=["f", "m"] * 4)
    split = np.array(["train"] * 2 + ["test"] * 6)
    label = np.array([0, 1, -1, -1, 0, 0, 1, 1])
    rows = [rows.tolist() for *_, rows in groups_of(replace(found, split=split, label=label))]
    assert rows == [[4, 6], [5, 7]]


def test_many_numbers_become_bands_of_round_width() -> None:
    ages = np.array(["", *(str(age) for age in range(18, 92, 3))])
    bands = banded(ages)
    assert bands[0] == NOT_RECORDED
    assert list(dict.fromkeys(bands[1:].tolist())) == [
        "0 to 20",
        "20 to 40",
        "40 to 60",
        "60 to 80",
        "80 to 100",
    ]
    for age, band in zip(ages[1:], bands[1:], strict=True):
        low, high = band.split(" to ")
        assert float(low) <= float(age) < float(high)


def test_bands_come_by_size_and_few_numbers_stay_as_they_are() -> None:
    ages = [str(5 * age) for age in range(24)]
    columns = [value for _, value, _ in groups_of(manifest(age=ages))]
    assert columns == ["0 to 20", "20 to 40", "40 to 60", "60 to 80", "80 to 100", "100 to 120"]
    assert banded(np.array(["1", "6", "2"])).tolist() == ["1", "6", "2"]


@pytest.fixture
def kept(real: Path) -> tuple[Study, Album]:
    (study,) = read_folders([real / "runs"]).studies
    album, _ = Albums(real / "data" / "cache").of(study.runs[0].config)
    return study, album


def test_scores_are_those_of_each_group_s_own_images(kept: tuple[Study, Album]) -> None:
    study, album = kept
    found = subgroups(study, album)
    assert {group.column for group in found} == {"sex", "age"}
    sexes = [group for group in found if group.column == "sex"]
    assert [(group.value, group.images, group.few) for group in sexes] == [
        ("f", 40, False),
        ("m", 40, False),
    ]
    whole = album.benchmark.manifest
    run = study.run("random", 0)
    assert run is not None
    counts = np.zeros((3, 3), int)
    for site in run.sites:
        own = predictions(run, site)
        assert own is not None and own.round == 1
        for sample, predicted in zip(own.ids.split("\n"), own.predicted, strict=True):
            if whole.columns["sex"][whole.ids.index(sample)] == "f":
                counts[album.label(sample), predicted] += 1
    assert counts.sum() == 40
    assert sexes[0].scores["random"].mean == pytest.approx(balanced_accuracy(counts.tolist()))


def test_a_seed_without_its_last_round_is_missing_not_guessed(kept: tuple[Study, Album]) -> None:
    study, album = kept
    run = study.run("random", 0)
    assert run is not None
    later = replace(study, runs=(*study.runs, replace(run, seed=1, folder=Path("nowhere"))))
    spread = subgroups(later, album)[0].scores["random"]
    assert (spread.seeds, spread.of) == (1, 2)


def test_without_predictions_there_are_no_subgroups(kept: tuple[Study, Album]) -> None:
    study, album = kept
    nowhere = tuple(replace(run, folder=Path("nowhere")) for run in study.runs)
    assert subgroups(replace(study, runs=nowhere), album) == ()


def test_predictions_of_images_that_are_gone_are_refused(kept: tuple[Study, Album]) -> None:
    study, album = kept
    whole = album.benchmark.manifest
    other = replace(whole, ids=tuple(f"other-{sample}" for sample in whole.ids))
    bench = album.benchmark
    gone = Album(Benchmark(bench.name, other, bench.inputs, bench.coverage))
    with pytest.raises(ValueError, match="40 images of the run"):
        subgroups(study, gone)


def test_the_file_is_the_site_s(real: Path) -> None:
    assert len(list((real / "runs").glob(f"*/sites/*/{PREDICTIONS}"))) == 4
