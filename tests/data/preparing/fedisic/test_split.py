from collections import Counter
from pathlib import Path

import pytest

from fidal.data.benchmark import DataAbsent, data_folder
from fidal.data.preparing.fedisic.split import SITES, Row, read_split
from fidal.types import OUTLIER
from tests.data.preparing.fedisic.tree import outlier_rows, rows, write_split


@pytest.mark.parametrize("separator", [",", "\t"])
def test_rows_of_the_four_sites_with_commas_or_tabs(tmp_path: Path, separator: str) -> None:
    path = write_split(tmp_path / "train_test_split", rows() + outlier_rows(), separator)
    read = read_split(path)
    assert read[1] == Row("ISIC_0000001", "bcn", "train", 1)
    assert read[16] == Row("ISIC_0000016", "bcn", "test", 0)
    assert read[24] == Row("ISIC_0010000_downsampled", "vidir_molemax", "train", 0)
    assert {row.site for row in read} == {"bcn", "vidir_molemax", "vidir_modern", "rosendahl"}
    assert len(read) == 46 + 20 + 24
    assert read[-1] == Row("0261", "rosendahl", "train", OUTLIER)


@pytest.mark.parametrize(
    ("column", "value", "told"),
    [
        ("image", "ISIC_0000003", r"row 6, column 'image': 'ISIC_0000003' stands in an earlier"),
        ("target", "9", "row 6, column 'target': '9' is unknown; known: 0, 1, 2"),
        ("center", "6", "row 6, column 'center': '6' is unknown"),
        ("fold", "val", "row 6, column 'fold': 'val' is unknown; known: test, train"),
    ],
)
def test_cells_that_cannot_be(tmp_path: Path, column: str, value: str, told: str) -> None:
    made = rows()
    made[4][column] = value
    with pytest.raises(ValueError, match=told):
        read_split(write_split(tmp_path / "s.csv", made))


def test_a_column_that_is_missing(tmp_path: Path) -> None:
    made = [{("centre" if k == "center" else k): v for k, v in row.items()} for row in rows()]
    with pytest.raises(ValueError, match="column 'center' is missing; did you mean 'centre'"):
        read_split(write_split(tmp_path / "s.csv", made))


def test_no_file(tmp_path: Path) -> None:
    with pytest.raises(DataAbsent, match=r"no file .*nowhere; it is FLamby's `train_test_split`"):
        read_split(tmp_path / "nowhere")


@pytest.mark.data
@pytest.mark.parametrize(
    ("name", "outliers"),
    [
        ("fedisic_open_set_split.csv", [6280, 2000, 1701, 1143]),
        ("flamby_fed_isic2019_train_test_split.csv", [0, 0, 0, 0]),
    ],
)
def test_the_real_split_files_have_the_papers_counts(name: str, outliers: list[int]) -> None:
    read = read_split(data_folder() / "splits" / name)
    counts = Counter((row.site, row.split, row.label == OUTLIER) for row in read)
    assert [counts[site, "train", False] for site in SITES] == [9930, 3163, 2691, 1807]
    assert [counts[site, "test", False] for site in SITES] == [2483, 791, 672, 452]
    assert [counts[site, "train", True] for site in SITES] == outliers
    classes = Counter(row.label for row in read if row.site == "rosendahl" and row.split == "train")
    assert [classes[label] for label in range(8)] == [276, 649, 223, 86, 406, 20, 3, 144]
