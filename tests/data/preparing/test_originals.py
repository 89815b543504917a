import re
from pathlib import Path

import pytest

from fidal.data.benchmark import DataAbsent
from fidal.data.preparing.originals import Originals


@pytest.fixture
def folders(tmp_path: Path) -> list[Path]:
    for name in ("a/deep/er/1.png", "a/2.png", "b/3.png", "b/t.csv"):
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("x,y\n1, 2\n")
    return [tmp_path / "a", tmp_path / "b"]


def test_files_are_found_by_name_wherever_they_lie(folders: list[Path]) -> None:
    originals = Originals(folders)
    assert originals.find("1.png") == folders[0] / "deep/er/1.png"
    assert originals.find("9.png", "3.png") == folders[1] / "3.png"
    assert originals.find("9.png") is None
    assert originals.below(folders[0] / "deep/er/1.png") == "deep/er/1.png"


def test_a_name_in_two_places_is_only_wrong_when_it_is_asked_for(folders: list[Path]) -> None:
    (folders[1] / "2.png").touch()
    originals = Originals(folders)
    assert originals.find("1.png") is not None
    with pytest.raises(ValueError, match=r"'2\.png' lies in .*a and in .*b; give --from only"):
        originals.find("2.png")


def test_a_folder_that_is_named_twice_is_one(folders: list[Path]) -> None:
    originals = Originals([*folders, folders[0], folders[0] / "deep"])
    assert originals.find("1.png") == folders[0] / "deep/er/1.png"


def test_tables_and_patterns(folders: list[Path]) -> None:
    originals = Originals(folders)
    assert originals.table("t.csv", ("y",), "the data").columns == {"y": ["2"]}
    found = [(m[1], path.name) for m, path in originals.matching(re.compile(r"(\d)\.png"))]
    assert found == [("1", "1.png"), ("2", "2.png"), ("3", "3.png")]
    with pytest.raises(DataAbsent, match=r"no 'u\.csv' below .*a, .*b: it comes with the data"):
        originals.table("u.csv", ("y",), "the data")


def test_a_folder_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(DataAbsent, match=r"--from .*nowhere: there is no such folder"):
        Originals([tmp_path / "nowhere"])
