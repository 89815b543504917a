import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from fidal.data import pixel_file, render
from fidal.data.prepared import read_prepared
from fidal.data.preparing.prepare import prepare
from fidal.data.preparing.record import read_record
from fidal.storage import StateError, hold
from tests.data.preparing.made import SEEN, Made, files, pixels_of


@pytest.fixture(autouse=True)
def nothing_seen() -> Iterator[None]:
    SEEN.clear()
    yield


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return files(tmp_path / "downloads")


def test_the_folder_holds_every_image_with_all_that_is_known(folder: Path, tmp_path: Path) -> None:
    collected = Made().collect([folder])
    told: list[tuple[int, int]] = []
    record = prepare(
        Made(), collected, tmp_path / "out", told=lambda done, n: told.append((done, n))
    )
    assert read_record(tmp_path / "out") == record
    assert record.benchmark == "fedisic" and record.shape == (4, 6, 1)
    assert record.counts == collected.counts
    manifest, pixels = read_prepared(tmp_path / "out", record)
    assert isinstance(pixels, np.memmap)
    assert manifest.sites == ("west", "east")  # as collected; in a site by id
    for row, image in enumerate(manifest.columns["image"].tolist()):
        np.testing.assert_array_equal(pixels[row], pixels_of(folder / image))
        assert manifest.columns["note"][row] == f"about {Path(image).name}"
    before = dict(zip(collected.manifest.ids, collected.manifest.label.tolist(), strict=True))
    assert dict(zip(manifest.ids, manifest.label.tolist(), strict=True)) == before
    assert manifest.group is not None and sorted(manifest.group)[1:] == [
        "p1",
        "p2",
        "p3",
        "p4",
        "p5",
    ]
    assert told[0] == (0, 6) and told[-1] == (6, 6)
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == [
        ".lock",
        "benchmark.json",
        "manifest.csv",
        "pixels.npy",
    ]


def test_a_finished_folder_is_found_finished(folder: Path, tmp_path: Path) -> None:
    record = prepare(Made(), Made().collect([folder]), tmp_path / "out")
    SEEN.clear()
    assert prepare(Made(), Made().collect([folder]), tmp_path / "out") == record
    assert SEEN == []
    (folder / "images/a.png").write_bytes((folder / "images/b.png").read_bytes())
    with pytest.raises(ValueError, match=r"out holds fedisic, prepared from other files or with"):
        prepare(Made(), Made().collect([folder]), tmp_path / "out")


def test_a_killed_prepare_goes_on_where_it_stopped(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(render, "BATCH", 2 * 4 * 6)
    batches = 0

    def append(*_: object) -> None:
        nonlocal batches
        batches += 1
        if batches == 3:
            raise KeyboardInterrupt
        real(*_)  # type: ignore[arg-type]

    real = pixel_file.append
    monkeypatch.setattr(pixel_file, "append", append)
    with pytest.raises(KeyboardInterrupt):
        prepare(Made(), Made().collect([folder]), tmp_path / "out")
    assert len(SEEN) == 6 and not (tmp_path / "out/benchmark.json").exists()
    noted = SEEN[:4]
    SEEN.clear()
    told: list[int] = []
    record = prepare(
        Made(), Made().collect([folder]), tmp_path / "out", told=lambda done, n: told.append(done)
    )
    assert len(SEEN) == 2 and not set(SEEN) & set(noted)
    assert told == [4, 6]
    manifest, pixels = read_prepared(tmp_path / "out", record)
    for row, image in enumerate(manifest.columns["image"].tolist()):
        np.testing.assert_array_equal(pixels[row], pixels_of(folder / image))


def test_unreadable_images_are_named_counted_and_quarantined_by_choice(
    folder: Path, tmp_path: Path
) -> None:
    (folder / "images/b.png").write_bytes((folder / "images/b.png").read_bytes()[:50])
    (folder / "images/e.png").write_bytes(b"<html>404</html>")
    out = tmp_path / "out"
    with pytest.raises(ValueError, match=r"2 of 6 images cannot be read: .*--quarantine") as error:
        prepare(Made(), Made().collect([folder]), out)
    assert "images/b.png' (" in str(error.value)
    listed = dict(line.split("\t") for line in (out / "unreadable.txt").read_text().splitlines())
    assert listed["images/e.png"] == "not an image of a known format"
    assert listed.keys() == {"images/b.png", "images/e.png"}
    SEEN.clear()
    record = prepare(Made(), Made().collect([folder]), out, quarantine=True)
    assert set(SEEN) == {"b.png", "e.png"}  # what could be read stays done
    assert [(each.image, each.site, each.kind) for each in record.quarantined] == [
        ("images/e.png", "west", "blur"),
        ("images/b.png", "east", "id"),
    ]
    manifest, pixels = read_prepared(out, record)
    assert len(pixels) == 4
    for row, image in enumerate(manifest.columns["image"].tolist()):
        np.testing.assert_array_equal(pixels[row], pixels_of(folder / image))


def test_after_a_repair_nothing_is_listed_any_more(folder: Path, tmp_path: Path) -> None:
    whole = (folder / "images/b.png").read_bytes()
    (folder / "images/b.png").write_bytes(whole[:50])
    with pytest.raises(ValueError, match="1 of 6 images"):
        prepare(Made(), Made().collect([folder]), tmp_path / "out")
    (folder / "images/b.png").write_bytes(whole)
    SEEN.clear()
    assert prepare(Made(), Made().collect([folder]), tmp_path / "out").quarantined == ()
    assert SEEN == ["b.png"]
    assert not (tmp_path / "out/unreadable.txt").exists()


def test_when_all_are_unreadable_quarantine_does_not_help(folder: Path, tmp_path: Path) -> None:
    for path in (folder / "images").iterdir():
        path.write_bytes(b"")
    with pytest.raises(ValueError, match="6 of 6 images cannot be read"):
        prepare(Made(), Made().collect([folder]), tmp_path / "out", quarantine=True)


def test_a_site_that_quarantine_leaves_without_training_images(
    folder: Path, tmp_path: Path
) -> None:
    for name in ("a.png", "b.png"):
        (folder / "images" / name).write_bytes(b"")
    with pytest.raises(ValueError, match="site 'east' has 1 test images and none to train on"):
        prepare(Made(), Made().collect([folder]), tmp_path / "out", quarantine=True)
    files(tmp_path / "again")
    (tmp_path / "again/images/b.png").replace(folder / "images/b.png")
    SEEN.clear()
    prepare(Made(), Made().collect([folder]), tmp_path / "out", quarantine=True)
    assert sorted(SEEN) == ["a.png", "b.png"]


def test_a_patient_on_both_sides_is_refused(folder: Path, tmp_path: Path) -> None:
    collected = Made().collect([folder])
    group = np.array(["", "p1", "p2", "p2", "p4", "p5"])
    wrong = replace(collected, manifest=replace(collected.manifest, group=group))
    with pytest.raises(ValueError, match="1 patients stand in both train and test, first 'p2'"):
        prepare(Made(), wrong, tmp_path / "out")
    assert SEEN == []


def test_labels_and_ids_are_checked_before_the_work(folder: Path, tmp_path: Path) -> None:
    collected = Made().collect([folder])
    label = np.array([-1, 0, 1, 2, 0, 0])
    wrong = replace(collected, manifest=replace(collected.manifest, label=label))
    with pytest.raises(ValueError, match="1 images have a label outside the classes"):
        prepare(Made(), wrong, tmp_path / "out")
    ids = ("x", *collected.manifest.ids[1:-1], "x")
    wrong = replace(collected, manifest=replace(collected.manifest, ids=ids))
    with pytest.raises(ValueError, match="1 images have an id that another image has too"):
        prepare(Made(), wrong, tmp_path / "out")
    empty = Made().collect([])
    with pytest.raises(ValueError, match="not one image is there"):
        prepare(Made(), empty, tmp_path / "out")
    assert SEEN == []


def test_a_folder_with_other_files_is_left_alone(folder: Path, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"holds files that are not a benchmark's, e\.g\. 'imag"):
        prepare(Made(), Made().collect([folder]), folder)


def test_one_process_at_a_time(folder: Path, tmp_path: Path) -> None:
    (tmp_path / "out").mkdir()
    with hold(tmp_path / "out"), pytest.raises(StateError, match="another process is at work"):
        prepare(Made(), Made().collect([folder]), tmp_path / "out")


def test_the_record_says_what_was_prepared(folder: Path, tmp_path: Path) -> None:
    (folder / "images/a.png").unlink()
    prepare(Made(), Made().collect([folder]), tmp_path / "out")
    record = json.loads((tmp_path / "out/benchmark.json").read_text())
    assert record["settings"] == {"name": "fedisic"}
    assert record["missing"] == ["a.png"]
    assert record["counts"] == [{"what": "images", "site": "east", "expected": 3, "found": 2}]
