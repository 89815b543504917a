from collections import Counter
from pathlib import Path

import numpy as np
import pytest

from fidal.data.benchmark import DataAbsent, data_folder
from fidal.data.preparing.collected import Collected, Count
from fidal.data.preparing.fedisic import FedIsicCollector
from fidal.types import OUTLIER
from tests.data.preparing.fedisic.tree import (
    ddi,
    downloads,
    fitzpatrick,
    isic,
    numbered,
    outlier_rows,
    rows,
    write_split,
)

SITES = ("bcn", "vidir_molemax", "vidir_modern", "rosendahl")


def found(counts: tuple[Count, ...], what: str) -> list[int]:
    return [count.found for count in counts if count.what == what]


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    return downloads(tmp_path_factory.mktemp("downloads"))


@pytest.fixture
def collected(folders: list[Path]) -> Collected:
    return FedIsicCollector(split=folders[0] / "train_test_split").collect(folders)


def test_dermoscopy_by_the_split_and_all_photographs_beside_it(collected: Collected) -> None:
    manifest = collected.manifest
    assert manifest.sites == SITES
    assert found(collected.counts, "ID training images") == [16, 12, 10, 8]
    assert found(collected.counts, "ID test images") == [8, 4, 4, 4]
    assert found(collected.counts, "OOD: ddi") == [10]
    assert found(collected.counts, "OOD: fitzpatrick17k") == [30]
    assert collected.missing == ()
    truth = {row["image"]: row for row in rows()}
    for place, path in enumerate(collected.files):
        kind, label = manifest.columns["kind"][place], manifest.label[place]
        assert manifest.columns["image"][place].endswith(path.name)
        if kind == "id":
            assert truth[path.stem]["target"] == str(label)
            assert truth[path.stem]["fold"] == manifest.split[place]
            assert SITES[int(truth[path.stem]["center"])] == manifest.site[place]
        else:
            assert label == OUTLIER and manifest.split[place] == "train"
    assert manifest.group is None


def test_what_is_known_of_photographs_stands_in_columns(collected: Collected) -> None:
    columns = collected.manifest.columns
    kinds = columns["kind"]
    assert set(columns["skin_tone"][kinds == "ddi"]) == {"12", "34", "56"}
    assert set(columns["skin_tone"][kinds == "fitzpatrick17k"]) == set("123456")
    assert set(columns["diagnosis"][kinds == "fitzpatrick17k"]) == {"lichen, planus"}
    assert set(columns["skin_tone"][kinds == "id"]) == {""}


def test_ids_do_not_tell_outliers_apart(collected: Collected) -> None:
    ids = collected.manifest.ids
    assert len(set(ids)) == len(ids) and {len(name) for name in ids} == {16}
    order = np.argsort(np.array(ids))
    outlier = (collected.manifest.label == OUTLIER)[order]
    half = len(ids) // 2
    assert 0.2 < outlier[:half].sum() / outlier.sum() < 0.8


def test_the_draw_depends_on_the_seed_alone(folders: list[Path], collected: Collected) -> None:
    def homes(what: Collected) -> dict[str, str]:
        return dict(zip(what.manifest.ids, what.manifest.site.tolist(), strict=True))

    split = folders[0] / "train_test_split"
    again = FedIsicCollector(split=split).collect(folders[::-1])
    assert homes(again) == homes(collected)
    other = homes(FedIsicCollector(split=split, seed=1).collect(folders))
    moved = [name for name, home in homes(collected).items() if other[name] != home]
    kinds = dict(zip(collected.manifest.ids, collected.manifest.columns["kind"], strict=True))
    assert moved and {kinds[name] for name in moved} == {"ddi", "fitzpatrick17k"}


def test_missing_files_are_named(tmp_path: Path) -> None:
    places = downloads(tmp_path)
    gone = places[0] / "ISIC_2019_Training_Input" / "ISIC_0000002.jpg"
    gone.unlink()
    photo = sorted((places[2] / "images").iterdir())[3]
    photo.unlink()
    made = FedIsicCollector(split=places[0] / "train_test_split").collect(places)
    assert set(made.missing) == {gone.name, photo.name}
    assert found(made.counts, "ID training images") == [15, 12, 10, 8]
    assert found(made.counts, "OOD: fitzpatrick17k") == [29]


def test_an_open_set_file_is_taken_at_its_word(tmp_path: Path) -> None:
    isic(tmp_path / "isic")
    numbered(tmp_path / "FedISIC_npy")
    split = write_split(tmp_path / "open.csv", rows() + outlier_rows(), "\t")
    collector = FedIsicCollector(split=split, outliers="listed")
    made = collector.collect([tmp_path / "isic", tmp_path / "FedISIC_npy"])
    assert found(made.counts, "OOD training images") == [9, 6, 5, 4]
    assert found(made.counts, "OOD: ddi") == []
    homes = {f.stem: s for f, s in zip(made.files, made.manifest.site.tolist(), strict=True)}
    named = {row["image"]: row["center"] for row in outlier_rows()}
    for name, centre in named.items():
        assert homes.get(name) == (SITES[int(centre)] if int(centre) < 4 else None)
    assert Counter(made.manifest.columns["kind"].tolist()) == {"id": 66, "clinical": 24}
    (tmp_path / "FedISIC_npy" / "0100.npy").unlink()
    assert collector.collect([tmp_path]).missing == ("0100.npy",)


def test_a_split_without_outliers_lists_none(folders: list[Path]) -> None:
    collector = FedIsicCollector(split=folders[0] / "train_test_split", outliers="listed")
    with pytest.raises(ValueError, match=r"lists none .*; draw them instead"):
        collector.collect(folders)


def test_drawing_needs_both_data_sets(folders: list[Path], tmp_path: Path) -> None:
    collector = FedIsicCollector(split=folders[0] / "train_test_split")
    with pytest.raises(
        DataAbsent, match=r"there is no 'ddi_metadata\.csv' below .*: it comes with"
    ):
        collector.collect([folders[0]])
    ddi(tmp_path / "ddi")
    with pytest.raises(DataAbsent, match=r"no 'fitzpatrick17k\.csv'"):
        collector.collect([folders[0], tmp_path / "ddi"])


def test_metadata_of_photographs_with_a_missing_column(tmp_path: Path) -> None:
    places = downloads(tmp_path)
    table = places[1] / "ddi_metadata.csv"
    table.write_text(table.read_text().replace("DDI_file", "file"))
    with pytest.raises(ValueError, match=r"ddi_metadata\.csv: column 'DDI_file' is missing"):
        FedIsicCollector(split=places[0] / "train_test_split").collect(places)


def test_photographs_that_are_there_twice(tmp_path: Path) -> None:
    places = downloads(tmp_path)
    fitzpatrick(tmp_path / "again")
    with pytest.raises(ValueError, match=r"lies in .*again.* and in .*; give --from only"):
        FedIsicCollector(split=places[0] / "train_test_split").collect(
            [*places, tmp_path / "again"]
        )


def touch(folder: Path, names: list[str]) -> Path:
    folder.mkdir()
    for name in names:
        (folder / name).touch()
    return folder


@pytest.mark.data
@pytest.mark.slow  # tens of thousands of empty files
def test_the_papers_counts_come_from_the_real_open_set_file(tmp_path: Path) -> None:
    split = data_folder() / "splits" / "fedisic_open_set_split.csv"
    named = [line.split(",") for line in split.read_text().splitlines()[1:]]
    images = touch(tmp_path / "images", [f"{cells[0]}.jpg" for cells in named if cells[10] != "8"])
    arrays = touch(tmp_path / "npy", [f"{cells[0]}.npy" for cells in named if cells[10] == "8"])
    made = FedIsicCollector(split=split, outliers="listed").collect([images, arrays])
    assert found(made.counts, "ID training images") == [9930, 3163, 2691, 1807]
    assert found(made.counts, "ID test images") == [2483, 791, 672, 452]
    assert found(made.counts, "OOD training images") == [6280, 2000, 1701, 1143]
    assert all(count.found == count.expected for count in made.counts)
    assert made.missing == ()


@pytest.mark.data
@pytest.mark.slow  # tens of thousands of empty files
def test_the_papers_counts_come_from_the_real_flamby_file_and_a_draw(tmp_path: Path) -> None:
    split = data_folder() / "splits" / "flamby_fed_isic2019_train_test_split.csv"
    names = [line.split(",")[0] for line in split.read_text().splitlines()[1:]]
    images = touch(tmp_path / "images", [f"{name}.jpg" for name in names])
    photos = touch(tmp_path / "ddi", [f"{i:06d}.png" for i in range(1, 657)])
    lines = [f"{i:06d}.png,12,x" for i in range(1, 657)]
    (photos / "ddi_metadata.csv").write_text("\n".join(["DDI_file,skin_tone,disease", *lines]))
    keys = [f"{i:032x}" for i in range(16_577)]
    dead = set(keys[::3])  # a third of the links
    web = touch(tmp_path / "web", [f"{key}.jpg" for key in keys if key not in dead])
    lines = [f"{key},3,x" for key in keys]
    table = "\n".join(["md5hash,fitzpatrick_scale,label", *lines])
    (web / "fitzpatrick17k.csv").write_text(table)
    made = FedIsicCollector(split=split).collect([images, photos, web])
    assert found(made.counts, "ID training images") == [9930, 3163, 2691, 1807]
    assert found(made.counts, "OOD training images") == [6280, 2000, 1701, 1143]
    assert found(made.counts, "OOD: ddi") == [656]
    assert found(made.counts, "OOD: fitzpatrick17k") == [10_468]
    assert all(count.found == count.expected for count in made.counts)
    assert 3000 < len(made.missing) < 4000
