from pathlib import Path

import numpy as np

from fidal.data.benchmark import Manifest
from fidal.report.frame import Study
from fidal.report.reading import read_folders
from fidal.report.tables.pool import pool
from tests.report.made import edit, make_run


def test_images_and_share_come_from_the_warm_up(study: Study) -> None:
    cells = [[cell.text for cell in row] for row in pool(study).cells()]
    assert cells[0] == ["north", "900", "675", "225", "25.0"]
    assert cells[3] == ["west", "400", "240", "160", "40.0"]


def test_a_manifest_tells_the_kinds_of_the_training_pool(study: Study) -> None:
    manifest = Manifest(
        classes=("a",),
        ids=tuple("123456"),
        site=np.array(["north"] * 4 + ["east"] * 2),
        split=np.array(["train", "train", "train", "test", "train", "train"]),
        label=np.array([0, -1, -1, -1, -1, 0]),
        columns={"kind": np.array(["id", "ink", "blur", "ink", "ink", "id"])},
    )
    table = pool(study, manifest)
    assert [column.name for column in table.columns[5:]] == ["OOD: blur", "OOD: ink"]
    assert [line.cells[5:] for line in table.lines[:2]] == [(1, 1), (0, 1)]


def test_a_share_that_nobody_knows_is_left_blank(tmp_path: Path) -> None:
    edit(make_run(tmp_path, "fidal"), lambda row: row.update(pool_ood_share=None))
    cells = pool(read_folders([tmp_path]).studies[0]).cells()
    assert [cell.text for cell in cells[0]] == ["north", "900", "–", "–", "–"]


def test_the_paper_s_outliers_stand_below_by_its_names(tmp_path: Path) -> None:
    make_run(tmp_path, "fidal", benchmark={"name": "fedembed"})
    (study,) = read_folders([tmp_path]).studies
    cells = [[cell.text for cell in row] for row in pool(study).cells()]
    assert cells[4] == ["Selenia Dimensions, in the paper", "–", "–", "33,804", "13.1"]
    assert len(cells) == 8
    assert "Tables S1 and S2" in pool(study).caption
