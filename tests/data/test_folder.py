from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from fidal.data.benchmark import DataAbsent
from fidal.data.folder import Folder
from fidal.data.picture import Recipe
from fidal.data.sites import site_data
from fidal.types import OUTLIER, UNLABELLED
from tests.data.dicom.made import dataset, write

ROWS = (
    ("north/a.png", "north", "train", "nevus"),
    ("north/b.jpg", "north", "train", "ood"),
    ("north/c.tif", "north", "test", "melanoma"),
    ("south/d.png", "south", "train", ""),
    ("south/e.png", "south", "train", "melanoma"),
)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Colour PNG, JPEG, 16-bit TIFF, grayscale PNG, PNG with alpha, of different shapes."""
    rng = np.random.default_rng(0)
    for site in ("north", "south"):
        (tmp_path / site).mkdir()
    colour = rng.integers(0, 256, (20, 30, 4), dtype=np.uint8)
    Image.fromarray(colour[..., :3]).save(tmp_path / "north/a.png")
    Image.fromarray(colour[..., :3]).save(tmp_path / "north/b.jpg")
    Image.fromarray(colour[..., 0].astype(np.uint16) * 257).save(tmp_path / "north/c.tif")
    Image.fromarray(colour[:, :16, 0]).save(tmp_path / "south/d.png")
    Image.fromarray(colour).save(tmp_path / "south/e.png")
    lines = ["image,site,split,label", *(",".join(row) for row in ROWS)]
    (tmp_path / "manifest.csv").write_text("\n".join(lines))
    return tmp_path


def embeddings(path: Path, ids: list[str]) -> Path:
    np.savez(path, id=np.array(ids), embedding=np.arange(len(ids) * 2.0).reshape(-1, 2))
    return path


def test_images_labels_and_sites_of_the_manifest(folder: Path) -> None:
    benchmark = Folder(manifest=folder / "manifest.csv", size=16).load(folder / "cache")
    manifest = benchmark.manifest
    assert benchmark.name == "folder"
    assert manifest.ids == tuple(row[0] for row in ROWS)
    assert manifest.classes == ("melanoma", "nevus")
    assert manifest.label.tolist() == [1, OUTLIER, 0, UNLABELLED, 0]
    expected = [Recipe(16)(folder / row[0]) for row in ROWS]
    np.testing.assert_array_equal(benchmark.inputs, expected)
    assert benchmark.coverage is None


def test_root_size_and_fit_are_obeyed(
    folder: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    elsewhere = tmp_path_factory.mktemp("elsewhere")
    (folder / "manifest.csv").rename(elsewhere / "list.csv")
    source = Folder(manifest=elsewhere / "list.csv", root=folder, size=24, fit="pad")
    inputs = source.load(folder / "cache").inputs
    assert inputs.shape == (5, 24, 24, 3)
    assert not inputs[0, :3].any()
    assert inputs[0, 12].any()


def test_coverage_comes_from_the_file_by_id(folder: Path) -> None:
    ids = ["other", *(row[0] for row in reversed(ROWS))]
    source = Folder(
        manifest=folder / "manifest.csv", size=8, embeddings=embeddings(folder / "e.npz", ids)
    )
    coverage = source.load(folder / "cache").coverage
    np.testing.assert_array_equal(coverage, [[10, 11], [8, 9], [6, 7], [4, 5], [2, 3]])


def test_missing_embeddings_are_counted_and_named(folder: Path) -> None:
    path = embeddings(folder / "e.npz", ["north/a.png", "south/d.png"])
    with pytest.raises(ValueError, match=r"3 of 5 images have no embedding, first 'north/b\.jpg'"):
        Folder(manifest=folder / "manifest.csv", size=8, embeddings=path).load(folder / "cache")


def test_dicom_files_of_a_clinic(folder: Path) -> None:
    """One of eight, one of twelve bits, one without an ending, and a broken one."""
    gray = np.kron(np.arange(64, dtype=np.uint16).reshape(8, 8), np.ones((2, 2), np.uint16))
    write(folder / "north/a.dcm", dataset(gray.astype(np.uint8)))
    write(folder / "north/IM01", dataset(gray * 64, BitsStored=12))
    broken = write(folder / "south/b.dcm", dataset(gray))
    broken.write_bytes(broken.read_bytes()[:-10])
    lines = ["image,site,split,label", "north/a.dcm,north,train,x", "north/IM01,north,train,y"]
    lines += ["south/b.dcm,south,train,x", "south/d.png,south,train,y"]
    (folder / "manifest.csv").write_text("\n".join(lines))
    source = Folder(manifest=folder / "manifest.csv", size=16)
    with pytest.raises(ValueError, match=r"1 of 4 .*'south/b\.dcm' \(the DICOM file is cut off"):
        source.load(folder / "cache")
    found = source.model_copy(update={"quarantine": True}).load(folder / "cache")
    assert found.manifest.ids == ("north/IM01", "north/a.dcm", "south/d.png")
    np.testing.assert_array_equal(found.inputs[1, :, :, 0], gray)
    np.testing.assert_array_equal(found.inputs[0, :, :, 2], np.rint(gray * 64 / 4095 * 255))


def test_a_truncated_image_is_an_error_and_quarantine_the_way_out(folder: Path) -> None:
    broken = folder / "north/b.jpg"
    broken.write_bytes(broken.read_bytes()[:300])
    source = Folder(
        manifest=folder / "manifest.csv",
        size=8,
        embeddings=embeddings(folder / "e.npz", [row[0] for row in ROWS]),
    )
    with pytest.raises(ValueError, match=r"1 of 5 images cannot be read: 'north/b\.jpg'"):
        source.load(folder / "cache")
    benchmark = source.model_copy(update={"quarantine": True}).load(folder / "cache")
    assert benchmark.manifest.ids == tuple(row[0] for row in ROWS if "b.jpg" not in row[0])
    assert benchmark.manifest.label.tolist() == [1, 0, UNLABELLED, 0]
    assert len(benchmark.inputs) == 4
    np.testing.assert_array_equal(benchmark.coverage, [[0, 1], [4, 5], [6, 7], [8, 9]])


def test_a_site_that_quarantine_left_without_training_images(folder: Path) -> None:
    for name in ("a.png", "b.jpg"):
        (folder / "north" / name).write_bytes(b"")
    source = Folder(manifest=folder / "manifest.csv", size=8, quarantine=True)
    with pytest.raises(ValueError, match="site 'north' has 1 test images and none to train on"):
        source.load(folder / "cache")


def test_a_wrong_root_is_seen_at_once(folder: Path) -> None:
    source = Folder(manifest=folder / "manifest.csv", root=folder / "nowhere", quarantine=True)
    with pytest.raises(
        ValueError, match=r"5 of 5 images cannot be read: .*there is no file .*nowhe"
    ):
        source.load(folder / "cache")


def test_an_absent_manifest(folder: Path) -> None:
    with pytest.raises(DataAbsent, match=r"no manifest at .*list\.csv"):
        Folder(manifest=folder / "list.csv").load(folder / "cache")


def test_fields_of_the_source_reach_the_manifest(folder: Path) -> None:
    text = (folder / "manifest.csv").read_text().replace("label", "label,patient", 1)
    (folder / "manifest.csv").write_text(
        text.replace("nevus", "nevus,p")
        .replace("ood", "ood,q")
        .replace("melanoma", "melanoma,p")
        .replace("train,\n", "train,,\n")
    )
    with pytest.raises(ValueError, match="allow_shared_groups = true"):
        Folder(manifest=folder / "manifest.csv", size=8).load(folder / "cache")
    source = Folder(
        manifest=folder / "manifest.csv",
        size=8,
        allow_shared_groups=True,
        classes=("nevus", "melanoma"),
    )
    assert source.load(folder / "cache").manifest.classes == ("nevus", "melanoma")
    with pytest.raises(ValueError, match="'nevus' is no class"):
        source.model_copy(update={"classes": ("naevus", "melanoma")}).load(folder / "cache")


def test_coverage_comes_from_an_encoder_by_name(folder: Path) -> None:
    fields = {"manifest": folder / "manifest.csv", "size": 32}
    source = Folder.model_validate({**fields, "encoder": "scattering"})
    assert source.encoder is not None
    benchmark = source.load(folder / "cache")
    assert benchmark.coverage is not None
    expected = source.encoder.encode(np.array(benchmark.inputs))
    np.testing.assert_allclose(benchmark.coverage, expected, rtol=1e-4, atol=1e-5)
    assert Folder.model_validate(source.model_dump(exclude={"name"})) == source
    with pytest.raises(ValueError, match="unknown encoder 'scatering'; did you mean 'scattering'"):
        Folder.model_validate({**fields, "encoder": "scatering"})


def test_coverage_has_one_origin(folder: Path) -> None:
    fields = {"manifest": folder / "manifest.csv", "embeddings": folder / "e.npz"}
    with pytest.raises(ValueError, match="give embeddings or encoder, not both"):
        Folder.model_validate({**fields, "encoder": "scattering"})


def test_sites_that_are_mixed_in_the_manifest_lie_side_by_side_on_the_disk(folder: Path) -> None:
    head, *rows = (folder / "manifest.csv").read_text().splitlines()
    mixed = [rows[i] for i in (4, 2, 0, 3, 1)]  # south comes first now
    (folder / "manifest.csv").write_text("\n".join([head, *mixed]))
    benchmark = Folder(manifest=folder / "manifest.csv", size=16).load(folder / "cache")
    assert benchmark.manifest.sites == ("south", "north")
    ids = [row[0] for row in ROWS]
    assert benchmark.manifest.ids == (*ids[3:], *ids[:3])
    expected = [Recipe(16)(folder / name) for name in benchmark.manifest.ids]
    np.testing.assert_array_equal(benchmark.inputs, expected)
    for site in ("north", "south"):
        assert np.shares_memory(site_data(benchmark, site).inputs, benchmark.inputs)


@pytest.mark.parametrize("site", ["../north", "a/b", "..", "*", "a\\b"])
def test_a_site_that_can_not_be_a_folder_is_refused(folder: Path, site: str) -> None:
    text = (folder / "manifest.csv").read_text().replace(",north,", f",{site},")
    (folder / "manifest.csv").write_text(text)
    with pytest.raises(ValueError, match=r"row 2, column 'site': .* can't be the name of a folder"):
        Folder(manifest=folder / "manifest.csv", size=8).load(folder / "cache")
