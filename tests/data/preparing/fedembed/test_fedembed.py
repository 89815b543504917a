import logging
import shutil
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from fidal.data import BENCHMARKS
from fidal.data.benchmark import DataAbsent
from fidal.data.prepared import FedEmbed
from fidal.data.preparing import COLLECTORS
from fidal.data.preparing.collected import Collected
from fidal.data.preparing.fedembed import FedEmbedCollector
from fidal.data.preparing.fedembed.breast import Breast
from fidal.data.preparing.prepare import prepare
from fidal.data.pseudonyms import Pseudonyms
from fidal.types import OUTLIER
from tests.data.dicom.made import SECRETS
from tests.data.preparing.fedembed.tree import (
    MARKERS,
    Row,
    Tables,
    embed,
    name_of,
    write_dicom,
    write_png,
    write_tables,
)

SMALL: dict[str, object] = {"validation_patients": 3, "height": 64, "width": 48}
SITES = {
    "Selenia Dimensions": "selenia_dimensions",
    "Senograph 2000D ADS_17.4.5": "senograph_2000d",
    "Senograph 2000D ADS_17.5": "senograph_2000d",
    "Lorad Selenia": "lorad_selenia",
    "Clearview CSm": "clearview_csm",
}
NAMES = Pseudonyms(b"fidal fedembed")


def collector(**fields: object) -> FedEmbedCollector:
    return FedEmbedCollector.model_validate({**SMALL, **fields})


@pytest.fixture(scope="module")
def tables() -> Tables:
    return embed()


@pytest.fixture(scope="module")
def png(tmp_path_factory: pytest.TempPathFactory, tables: Tables) -> Path:
    return write_png(write_tables(tmp_path_factory.mktemp("png"), tables), tables)


@pytest.fixture(scope="module")
def dicom(tmp_path_factory: pytest.TempPathFactory, tables: Tables) -> Path:
    return write_dicom(write_tables(tmp_path_factory.mktemp("dicom"), tables), tables)


def rows_of(collected: Collected, tables: Tables) -> list[Row]:
    """The row of the metadata behind each row of the manifest."""
    known = {NAMES.of("image", name_of(row)): row for row in tables.metadata}
    return [known[name] for name in collected.manifest.ids]


def test_every_row_says_what_the_tables_say(png: Path, tables: Tables) -> None:
    collected = collector().collect([png])
    manifest = collected.manifest
    assert manifest.classes == ("A", "B", "C", "D")
    shown = {name_of(i): r for i, r in zip(tables.metadata, tables.predicted, strict=True)}
    assert manifest.group is not None
    for place, row in enumerate(rows_of(collected, tables)):
        name = name_of(row)
        assert manifest.site[place] == SITES[row["ManufacturerModelName"]]
        markers = [marker for marker in MARKERS if shown[name][marker] == "1"]
        outlier = manifest.label[place] == OUTLIER
        assert outlier == bool(markers)
        assert (manifest.columns["kind"][place] == "id") == (not outlier)
        assert len(manifest.columns["artefacts"][place].split("+")) == max(1, len(markers))
        held = manifest.columns["base_split"][place] == "test"
        assert (manifest.split[place] == "test") == (held and not outlier)
        patient = NAMES.of("patient", row["empi_anon"])
        assert manifest.group[place] == ("" if held and outlier else patient)
        if not outlier:
            exam = [r for r in tables.clinical if r["acc_anon"] == row["acc_anon"]]
            density = next(r["tissueden"] for r in exam if r["tissueden"])
            assert manifest.label[place] == float(density) - 1
        assert collected.files[place].name == f"{name}.png"
    assert set(manifest.columns["burned_in"]) == {"unknown"}
    assert isinstance(collected.render, Breast)
    assert collected.render.shape == (64, 48, 1)


def test_patients_of_test_images_are_not_in_training(png: Path) -> None:
    manifest = collector().collect([png]).manifest
    assert manifest.group is not None
    sides = {side: set(manifest.group[manifest.split == side]) - {""} for side in ("train", "test")}
    assert sides["train"]
    assert sides["test"]
    assert not sides["train"] & sides["test"]
    assert (manifest.label[manifest.split == "test"] != OUTLIER).all()


def test_outliers_of_test_patients_go_to_the_pool_or_nowhere(png: Path) -> None:
    pooled = collector().collect([png])
    dropped = collector(outliers_of_test="drop").collect([png])
    moved = (pooled.manifest.columns["base_split"] == "test") & (pooled.manifest.label == OUTLIER)
    assert moved.sum() > 5
    assert set(pooled.manifest.split[moved]) == {"train"}
    kept = [name for name, gone in zip(pooled.manifest.ids, moved, strict=True) if not gone]
    assert list(dropped.manifest.ids) == kept
    assert dropped.counts == pooled.counts
    assert dropped.manifest.group is not None
    assert "" not in dropped.manifest.group


def test_counts_are_of_the_tables(png: Path) -> None:
    collected = collector().collect([png])
    found = Counter[str]()
    for count in collected.counts:
        if count.what.startswith("images of"):
            found[count.site] += count.found
    assert found == Counter(collected.manifest.site.tolist())
    assert {c.expected for c in collected.counts if c.site != "all"} == {None}
    whole = FedEmbedCollector.model_validate({**SMALL, "validation_patients": 600})
    with pytest.raises(ValueError, match=r"validation_patients: .* are the tables whole\?"):
        whole.collect([png])


def test_the_papers_numbers_are_expected_of_the_papers_choices(
    png: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("fidal.data.preparing.fedembed.VALIDATION", 3)
    expected = {(c.site, c.what): c.expected for c in collector().collect([png]).counts}
    key = ("lorad_selenia", "images of training patients, outliers among them")
    assert expected[key] == 7_749
    for other in (
        {"annotators": ("manual", "predicted")},
        {"strata": "patient"},
        {"annotators": ("manual",), "unannotated": "leave_out"},
    ):
        counts = collector(**other).collect([png]).counts
        assert {c.expected for c in counts if c.site != "all"} == {None}


def test_the_experts_annotations_make_a_small_clean_benchmark(png: Path, tables: Tables) -> None:
    with pytest.raises(ValueError, match="have no artefact annotation"):
        collector(annotators=["manual"]).collect([png])
    collected = collector(annotators=["manual"], unannotated="leave_out").collect([png])
    by_hand = {Path(row["image_path"]).stem for row in tables.manual}
    assert {name_of(row) for row in rows_of(collected, tables)} <= by_hand
    assert set(collected.manifest.columns["annotator"]) == {"manual"}
    both = collector(annotators=["manual", "predicted"]).collect([png])
    assert set(both.manifest.columns["annotator"]) == {"manual", "predicted"}


def test_the_precedence_is_a_field(png: Path) -> None:
    order = ("circle", "triangle", "compression", "devices", "implant")
    ours, theirs = (collector(**f).collect([png]) for f in ({}, {"precedence": order}))
    several = np.char.find(ours.manifest.columns["artefacts"], "+") > 0
    assert several.any()
    assert (ours.manifest.columns["kind"] != theirs.manifest.columns["kind"]).any()
    changed = ours.manifest.columns["kind"] != theirs.manifest.columns["kind"]
    assert not changed[~several].any()
    np.testing.assert_array_equal(ours.manifest.label, theirs.manifest.label)
    for wrong in (order[1:], (*order, "circle"), ("circle",) * 5):
        with pytest.raises(ValueError, match="must name each of implant, devices"):
            collector(precedence=wrong)


def test_dicom_has_the_same_rows_and_a_flag(dicom: Path, png: Path, tables: Tables) -> None:
    collected, other = collector().collect([dicom]), collector().collect([png])
    assert collected.manifest.ids == other.manifest.ids
    assert {path.suffix for path in collected.files} == {".dcm"}
    place = {name_of(row): i for i, row in enumerate(tables.metadata)}
    for row, flag in zip(
        rows_of(collected, tables), collected.manifest.columns["burned_in"], strict=True
    ):
        assert flag == ("yes" if place[name_of(row)] % 5 == 0 else "no")


def test_one_format_for_all(dicom: Path, png: Path) -> None:
    folders = [dicom / "images", png / "images", png / "tables"]
    with pytest.raises(DataAbsent, match=r"no 'predicted_all_embed\.csv' below"):
        collector().collect(folders)
    folders.append(png / "labelling_tools")
    by_hand = {"annotators": ["manual"], "unannotated": "leave_out"}
    found = {
        format: {path.suffix for path in collector(format=format, **by_hand).collect(folders).files}
        for format in (None, "png", "dicom")
    }
    assert found == {None: {".png"}, "png": {".png"}, "dicom": {".dcm"}}
    with pytest.raises(DataAbsent, match=r"of \d+ images not one \.dcm file is below the folders"):
        collector(format="dicom").collect([png])


def test_missing_files_are_counted_and_named_to_the_person_alone(
    tmp_path: Path, png: Path, caplog: pytest.LogCaptureFixture
) -> None:
    folder = shutil.copytree(png, tmp_path / "embed")
    whole = collector().collect([folder])
    gone = whole.files[7]
    gone.unlink()
    caplog.set_level(logging.WARNING)
    collected = collector().collect([folder])
    assert collected.missing == (whole.manifest.ids[7],)
    assert len(collected.manifest.ids) == len(whole.manifest.ids) - 1
    assert [c.found for c in collected.counts if c.what == "images without a file"] == [1]
    assert f"1 images of the tables have no file: {gone.stem} of patient {gone.parent.name}" in (
        caplog.text
    )


def test_a_salt_changes_every_pseudonym_and_nothing_else(tmp_path: Path, png: Path) -> None:
    salt = tmp_path / "salt"
    salt.write_text("the secret of this site")
    ours = collector(salt_file=salt).collect([png])
    again = collector(salt_file=salt).collect([png])
    others = collector().collect([png])
    assert ours.manifest.ids == again.manifest.ids
    assert not set(ours.manifest.ids) & set(others.manifest.ids)
    assert ours.manifest.group is not None
    assert others.manifest.group is not None
    assert not set(ours.manifest.group) & set(others.manifest.group) - {""}
    assert sorted(ours.files) == sorted(others.files)
    by_file = dict(zip(others.files, others.manifest.label.tolist(), strict=True))
    assert [by_file[file] for file in ours.files] == ours.manifest.label.tolist()


def test_pixels_and_manifest_of_a_prepared_folder(tmp_path: Path, png: Path) -> None:
    made = collector()
    collected = made.collect([png])
    record = prepare(made, collected, tmp_path / "out")
    assert record.shape == (64, 48, 1)
    benchmark = FedEmbed(root=tmp_path / "out").load(tmp_path / "cache")
    assert benchmark.manifest.ids == collected.manifest.ids
    np.testing.assert_array_equal(benchmark.manifest.label, collected.manifest.label)
    pixels = benchmark.inputs
    assert pixels.shape == (len(collected.files), 64, 48, 1)
    for row in (0, 50, -1):
        values = (np.asarray(Image.open(collected.files[row])) >> 8).astype(np.uint8)
        corner = np.zeros_like(values, dtype=bool)
        corner[4:8] = values[4:8] == 60_000 >> 8
        np.testing.assert_array_equal(pixels[row, ..., 0], np.where(corner, 0, values))


def test_nothing_of_a_header_is_handed_on_or_written(
    tmp_path: Path, dicom: Path, tables: Tables, capfd: pytest.CaptureFixture[str]
) -> None:
    """Every text of every header, and every number of a patient, an exam, an image; what is said
    of files that can't be read included."""
    folder = shutil.copytree(dicom, tmp_path / "embed")
    salt = tmp_path / "salt"
    salt.write_text("the secret of this site")
    made = collector(salt_file=salt)
    whole = made.collect([folder]).files
    for file, left in zip(whole, (-100, 900, 300, 0), strict=False):
        file.write_bytes(file.read_bytes()[:left])
    whole[4].unlink()
    whole[5].write_bytes(whole[5].read_bytes().replace(b"MONOCHROME2", b"MONOCHROME9"))
    capfd.readouterr()
    collected = made.collect([folder])
    record = prepare(made, collected, tmp_path / "out", quarantine=True)
    assert [len(record.missing), len(record.quarantined)] == [1, 5]
    told = [*capfd.readouterr(), repr(record), repr(collected.manifest), repr(collected.counts)]
    told += [" ".join(column.tolist()) for column in collected.manifest.columns.values()]
    told += [" ".join(collected.manifest.ids), collected.render.identity]
    written = [path for path in (tmp_path / "out").rglob("*") if path.is_file()]
    names = {path.name for path in written}
    assert names >= {"manifest.csv", "pixels.npy", "benchmark.json", "unreadable.txt"}
    told += [path.read_bytes().decode("latin-1") for path in written]
    told += sorted(names)
    words = {*SECRETS.values(), "the secret of this site"}
    for row in tables.metadata:
        words |= {row["empi_anon"], row["acc_anon"], name_of(row), row["SeriesDescription"]}
    assert not {word for word in words if any(word in text for text in told)}


def test_it_is_prepared_and_run_under_one_name() -> None:
    assert COLLECTORS["fedembed"] is FedEmbedCollector
    assert BENCHMARKS["fedembed"] is FedEmbed
