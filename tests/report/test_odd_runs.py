"""Whatever the rows hold, the report is drawn and written, and the figures can be rendered."""

import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from fidal.report.figures import figures_of
from fidal.report.reading import read_folders
from fidal.report.summary import summary
from fidal.report.tables import tables_of
from fidal.report.tables.formats import as_csv, as_latex, as_markdown
from tests.report.made import CLASSES, edit, make_run


def blank_scores(root: Path) -> None:
    fields = ("bma_pooled", "bma", "accuracy", "accuracy_pooled", "purity", "calibration_error")
    for strategy in ("fidal", "random"):
        edit(make_run(root, strategy), lambda row: row.update(dict.fromkeys(fields)))


def blank_recalls(root: Path) -> None:
    for strategy in ("fidal", "random"):
        edit(make_run(root, strategy), lambda row: row.update(recall=[None] * 8))


def warm_up_only(root: Path) -> None:
    for strategy in ("fidal", "random"):
        make_run(root, strategy, upto=0)


def nothing_foreign(root: Path) -> None:
    def clean(row: dict[str, Any]) -> None:
        row.update(outliers=0, purity=1.0, answered_ood=0, labelled=row["asked"])

    for strategy in ("fidal", "random"):
        edit(make_run(root, strategy), clean)


def one_site_of_two_classes(root: Path) -> None:
    make_run(root, "fidal", sites=("only",), classes=CLASSES[:2])


def strangers(root: Path) -> None:
    for name in ("mine", "yours"):
        make_run(root, name)


def long_names(root: Path) -> None:
    sites = tuple(f"University Hospital of the Northern Province {i}" for i in range(9))
    classes = tuple(f"a long name of class number {i}" for i in range(8))
    make_run(root, "a_strategy_with_a_long_name_indeed", sites=sites, classes=classes)
    make_run(root, "fidal", sites=sites, classes=classes)


@pytest.mark.parametrize(
    "make",
    [
        blank_scores,
        blank_recalls,
        warm_up_only,
        nothing_foreign,
        one_site_of_two_classes,
        strangers,
        long_names,
    ],
)
def test_odd_runs_are_drawn_and_written(make: Callable[[Path], None], tmp_path: Path) -> None:
    make(tmp_path)
    (study,) = read_folders([tmp_path]).studies
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for drawn in figures_of(study):
            drawn.figure.draw_without_rendering()
        for table in tables_of(study):
            for write in (as_csv, as_markdown, as_latex):
                assert "nan" not in write(table).split("\n\n")[-1].lower()
        assert summary(study)
