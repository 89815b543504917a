import sys
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

from fidal.data.benchmark import DataAbsent, Manifest
from fidal.data.manifest import read_manifest, take, write_manifest
from fidal.types import OUTLIER, UNLABELLED

HEADER = "image,site,split,label,patient,sex"
ROWS = (
    "a/1.png,north,train,nevus,p1,f",
    "a/2.png,north,train,ood,p2,",
    "a/3.png,north,test,melanoma,p3,m",
    "b/4.png,south,train,,p4,m",
)


def write(path: Path, rows: Sequence[str] = ROWS, header: str = HEADER) -> Path:
    path.write_text("\n".join((header, *rows)) + "\n", encoding="utf-8")
    return path


def assert_equal(one: Manifest, other: Manifest) -> None:
    assert one.classes == other.classes
    assert one.ids == other.ids
    for field in ("site", "split", "label", "group"):
        np.testing.assert_array_equal(getattr(one, field), getattr(other, field))
    assert one.columns.keys() == other.columns.keys()
    for name in one.columns:
        np.testing.assert_array_equal(one.columns[name], other.columns[name])


def test_what_a_csv_file_says_is_what_the_manifest_holds(tmp_path: Path) -> None:
    manifest = read_manifest(write(tmp_path / "m.csv"))
    assert manifest.classes == ("melanoma", "nevus")
    assert manifest.ids == ("a/1.png", "a/2.png", "a/3.png", "b/4.png")
    assert manifest.sites == ("north", "south")
    assert manifest.split.tolist() == ["train", "train", "test", "train"]
    assert manifest.label.tolist() == [1, OUTLIER, 0, UNLABELLED]
    assert manifest.group is not None
    assert manifest.group.tolist() == ["p1", "p2", "p3", "p4"]
    assert manifest.columns["sex"].tolist() == ["f", "", "m", "m"]
    assert manifest.columns["image"].tolist() == list(manifest.ids)


def test_declared_classes_give_the_order_and_may_be_more_than_the_labels(tmp_path: Path) -> None:
    manifest = read_manifest(write(tmp_path / "m.csv"), ("nevus", "keloid", "melanoma"))
    assert manifest.classes == ("nevus", "keloid", "melanoma")
    assert manifest.label.tolist() == [0, OUTLIER, 2, UNLABELLED]


def test_an_id_column_names_the_images_and_group_goes_before_patient(tmp_path: Path) -> None:
    header = "id,image,site,split,label,patient,group"
    rows = ["x1,1.png,s,train,a,p,g1", "x2,2.png,s,test,b,p,g2"]
    manifest = read_manifest(write(tmp_path / "m.csv", rows, header))
    assert manifest.ids == ("x1", "x2")
    assert manifest.columns["image"].tolist() == ["1.png", "2.png"]
    assert manifest.group is not None
    assert manifest.group.tolist() == ["g1", "g2"]
    assert manifest.columns["patient"].tolist() == ["p", "p"]


@pytest.mark.parametrize("separator", [",", ";", "\t"])
def test_separators_marks_and_spaces_of_spreadsheets(tmp_path: Path, separator: str) -> None:
    plain = read_manifest(write(tmp_path / "plain.csv"))
    text = "\n".join((HEADER, *ROWS, "")).replace(",", f" {separator}")
    (tmp_path / "sheet.csv").write_bytes(b"\xef\xbb\xbf" + text.encode())
    assert_equal(read_manifest(tmp_path / "sheet.csv"), plain)


@pytest.mark.parametrize("name", ["out.csv", "out.parquet"])
def test_written_and_read_again_it_is_the_same(tmp_path: Path, name: str) -> None:
    manifest = read_manifest(write(tmp_path / "m.csv"))
    write_manifest(manifest, tmp_path / name)
    assert_equal(read_manifest(tmp_path / name, manifest.classes), manifest)
    assert sorted(p.name for p in tmp_path.iterdir()) == sorted(["m.csv", name])


def test_cells_with_separators_and_quotes_survive(tmp_path: Path) -> None:
    manifest = read_manifest(write(tmp_path / "m.csv"))
    odd = Manifest(**{**vars(manifest), "columns": {"note": np.array(['a, "b"', "c\nd", "é", ""])}})
    write_manifest(odd, tmp_path / "odd.csv")
    read = read_manifest(tmp_path / "odd.csv")
    assert read.columns["note"].tolist() == ['a, "b"', "c\nd", "é", ""]


def test_parquet_numbers_and_nulls_are_read_as_text(tmp_path: Path) -> None:
    pyarrow = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    table = {
        "image": ["1.png", "2.png"],
        "site": [1, 1],
        "split": ["train", "train"],
        "label": [3, None],
    }
    parquet.write_table(pyarrow.table(table), tmp_path / "m.parquet")
    manifest = read_manifest(tmp_path / "m.parquet")
    assert manifest.classes == ("3",)
    assert manifest.label.tolist() == [0, UNLABELLED]
    assert manifest.sites == ("1",)


def test_take_takes_rows_of_every_field(tmp_path: Path) -> None:
    manifest = read_manifest(write(tmp_path / "m.csv"))
    chosen = take(manifest, np.array([3, 0]))
    assert chosen.ids == ("b/4.png", "a/1.png")
    assert chosen.label.tolist() == [UNLABELLED, 1]
    assert chosen.group is not None
    assert chosen.group.tolist() == ["p4", "p1"]
    assert chosen.columns["sex"].tolist() == ["m", "f"]


def test_without_pyarrow_parquet_is_an_error_with_two_ways_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "m.parquet").write_bytes(b"PAR1")
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    monkeypatch.setitem(sys.modules, "pyarrow.parquet", None)
    with pytest.raises(ValueError, match=r"not installed; install 'fidal\[parquet\]' or .* CSV"):
        read_manifest(tmp_path / "m.parquet")


def test_an_absent_file_is_said_with_its_place(tmp_path: Path) -> None:
    with pytest.raises(DataAbsent, match=r"no manifest at .*nowhere\.csv"):
        read_manifest(tmp_path / "nowhere.csv")


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("m.csv", b"", "the file is empty"),
        ("m.csv", b"image,site\n\xff\xfe", "not UTF-8"),
        ("m.csv", b"image,site,split,label\n1.png,s,train\n", "row 2: 3 cells for 4 columns"),
        ("m.csv", b"image,site,site,split,label\n", "column 'site' appears more than once"),
        ("m.csv", b'image,site,split,label\n"1.png,s,train,a\n', "not a readable CSV"),
        ("m.parquet", b"no parquet", "not a readable Parquet"),
    ],
)
def test_files_that_are_no_tables(tmp_path: Path, name: str, content: bytes, message: str) -> None:
    (tmp_path / name).write_bytes(content)
    with pytest.raises(ValueError, match=message) as error:
        read_manifest(tmp_path / name)
    assert str(tmp_path / name) in str(error.value)
