from pathlib import Path

import pytest

from fidal.data.manifest import read_manifest

HEADER = "image,site,split,label,patient"
GOOD = ("1.png,north,train,nevus,p1", "2.png,north,test,melanoma,p2")


def refusal(tmp_path: Path, *rows: str, header: str = HEADER, classes: tuple[str, ...] = ()) -> str:
    path = tmp_path / "m.csv"
    path.write_text("\n".join((header, *rows)) + "\n")
    with pytest.raises(ValueError, match=r"m\.csv|classes") as error:
        read_manifest(path, classes)
    return str(error.value).replace(f"{path}", "m.csv")


def test_missing_column(tmp_path: Path) -> None:
    told = refusal(tmp_path, "1.png,north,train,nevus", header="image,site,spilt,label")
    assert told == "m.csv: column 'split' is missing; did you mean 'spilt'?"


def test_no_rows(tmp_path: Path) -> None:
    assert refusal(tmp_path) == "m.csv: there is no row below the header"


def test_duplicate_ids_are_counted(tmp_path: Path) -> None:
    told = refusal(tmp_path, *GOOD, GOOD[0], GOOD[0])
    assert told == (
        "m.csv, row 4, column 'image': '1.png' stands in an earlier row too; "
        "ids are unique over all sites (and 1 more rows)"
    )


def test_two_images_of_one_id(tmp_path: Path) -> None:
    rows = ("7,1.png,s,train,a", "7,2.png,s,train,a")
    assert "row 3, column 'id': '7'" in refusal(tmp_path, *rows, header="id,image,site,split,label")


def test_one_image_under_two_ids_is_allowed(tmp_path: Path) -> None:
    (tmp_path / "m.csv").write_text("id,image,site,split,label\n1,x,s,train,a\n2,x,s,train,a\n")
    assert read_manifest(tmp_path / "m.csv").ids == ("1", "2")


@pytest.mark.parametrize(("row", "column"), [(",s,train,a,", "image"), ("x,,train,a,", "site")])
def test_empty_cells(tmp_path: Path, row: str, column: str) -> None:
    assert f"row 2, column '{column}': '' is empty" in refusal(tmp_path, row)


def test_unknown_split(tmp_path: Path) -> None:
    told = refusal(tmp_path, GOOD[0], "3.png,north,Train,nevus,p3")
    assert told == ("m.csv, row 3, column 'split': 'Train' is unknown; did you mean 'train'?")
    assert "known: test, train" in refusal(tmp_path, "3.png,north,holdout,nevus,p3")


def test_label_outside_the_declared_classes(tmp_path: Path) -> None:
    told = refusal(tmp_path, *GOOD, "3.png,north,train,nevos,", classes=("melanoma", "nevus"))
    assert told == "m.csv, row 4, column 'label': 'nevos' is no class; did you mean 'nevus'?"


def test_row_numbers_are_those_of_the_file(tmp_path: Path) -> None:
    rows = ('1.png,north,train,nevus,"p\n1"', "", "2.png,north,nowhere,nevus,p2")
    assert "m.csv, row 5, column 'split': 'nowhere'" in refusal(tmp_path, *rows)


def test_test_images_need_a_label(tmp_path: Path) -> None:
    told = refusal(tmp_path, GOOD[0], "3.png,north,test,,p3")
    assert "row 3, column 'label': '' is empty for a test image; give it a class or 'ood'" in told


def test_nobody_has_a_class(tmp_path: Path) -> None:
    assert "declare them with classes" in refusal(tmp_path, "1.png,north,train,,p1")


@pytest.mark.parametrize("classes", [("nevus", "ood"), ("nevus", "nevus"), ("nevus", "")])
def test_classes_that_cannot_be(tmp_path: Path, classes: tuple[str, ...]) -> None:
    told = refusal(tmp_path, GOOD[0], classes=classes)
    assert told.startswith(f"classes: '{classes[1]}' is declared more than once, empty, or 'ood'")


def test_a_site_without_training_images(tmp_path: Path) -> None:
    told = refusal(tmp_path, *GOOD, "3.png,south,test,nevus,p3", "4.png,south,test,nevus,p4")
    assert "site 'south' has 2 test images and none to train on" in told


def test_a_patient_on_both_sides_unless_allowed(tmp_path: Path) -> None:
    shared = (*GOOD, "3.png,north,test,nevus,p1", "4.png,north,train,nevus,")
    told = refusal(tmp_path, *shared, "5.png,north,test,nevus,")
    assert "1 groups (2 images) stand in both train and test, first 'p1'" in told
    assert "allow_shared_groups = true" in told
    allowed = read_manifest(tmp_path / "m.csv", allow_shared_groups=True)
    assert len(allowed.ids) == 5
