from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from fidal.data.benchmark import DataAbsent
from fidal.data.preparing.checking import check
from fidal.data.preparing.prepare import prepare
from tests.data.preparing.made import Made, files


@pytest.fixture
def root(tmp_path: Path) -> Path:
    prepare(Made(), Made().collect([files(tmp_path / "downloads")]), tmp_path / "out")
    return tmp_path / "out"


def test_nothing_is_wrong(root: Path) -> None:
    told: list[tuple[int, int]] = []
    found = check(root, lambda done, n: told.append((done, n)))
    assert found.problems == () and found.notes == ()
    assert found.tally == (("west", 1, 1, 1), ("east", 2, 0, 1))
    assert told == [(6, 6)]


def test_one_changed_pixel_is_seen_and_its_image_named(root: Path) -> None:
    pixels = np.load(root / "pixels.npy", mmap_mode="r+")
    pixels[4, 1, 2, 0] ^= 1
    pixels.flush()
    (problem,) = check(root).problems
    name = (root / "manifest.csv").read_text().splitlines()[5].split(",")[0]
    assert problem.startswith(f"pixels.npy: 1 images are not as they were written, first {name}")


def test_a_changed_manifest_is_seen(root: Path) -> None:
    text = (root / "manifest.csv").read_text()
    (root / "manifest.csv").write_text(text.replace(",fatty,", ",dense,", 1))
    assert check(root).problems == ("manifest.csv is not as it was written; put back a copy of it",)


def test_a_truncated_pixel_file_is_said(root: Path) -> None:
    whole = (root / "pixels.npy").read_bytes()
    (root / "pixels.npy").write_bytes(whole[:-10])
    with pytest.raises(
        ValueError, match=r"pixels\.npy can't be read: .*; prepare the benchmark ag"
    ):
        check(root)
    np.save(root / "pixels.npy", np.zeros((6, 4, 6, 3), np.uint8))
    with pytest.raises(ValueError, match=r"holds uint8 of shape \(6, 4, 6, 3\), not uint8 of sha"):
        check(root)


def test_a_manifest_row_that_is_gone_does_not_fit_the_pixels(root: Path) -> None:
    lines = (root / "manifest.csv").read_text().splitlines()
    (root / "manifest.csv").write_text("\n".join(lines[:-1]) + "\n")
    with pytest.raises(ValueError, match=r"not uint8 of shape \(5, 4, 6, 1\)"):
        check(root)


def test_a_patient_who_was_moved_is_seen(root: Path) -> None:
    text = (root / "manifest.csv").read_text()
    (root / "manifest.csv").write_text(text.replace("p3", "p1"))
    with pytest.raises(ValueError, match=r"1 groups \(2 images\) stand in both train and test"):
        check(root)


def test_an_even_image_is_a_problem_and_what_was_accepted_a_note(tmp_path: Path) -> None:
    folder = files(tmp_path / "downloads")
    (folder / "images/a.png").write_bytes(b"broken")
    (folder / "images/c.png").unlink()
    Image.new("L", (6, 4), 200).save(folder / "images/d.png")
    prepare(Made(), Made().collect([folder]), tmp_path / "out", quarantine=True)
    found = check(tmp_path / "out")
    assert found.problems == (
        "pixels.npy: 1 images have one value only, first images/d.png; look at their originals",
    )
    assert found.notes == (
        "images, east: expected 3, found 2",
        "left out: images/a.png, east (not an image of a known format)",
    )


def test_an_unfinished_or_foreign_folder(root: Path, tmp_path: Path) -> None:
    (root / "benchmark.json").write_text('{"benchmark": "x"}')
    with pytest.raises(ValueError, match=r"benchmark\.json: not a record of fidal: .*missing"):
        check(root)
    (root / "benchmark.json").unlink()
    with pytest.raises(DataAbsent, match=r"out holds no prepared benchmark: there is no benchmark"):
        check(root)
