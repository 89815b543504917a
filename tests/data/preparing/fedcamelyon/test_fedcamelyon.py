from pathlib import Path

import numpy as np
import pytest

from fidal.data.preparing.collected import Collected
from fidal.data.preparing.fedcamelyon import FedCamelyonCollector
from fidal.types import OUTLIER
from tests.data.preparing.fedcamelyon.tree import PATIENTS, downloads, patch_path, rows


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    return downloads(tmp_path_factory.mktemp("downloads"))


@pytest.fixture
def collected(folders: list[Path]) -> Collected:
    return FedCamelyonCollector().collect(folders)


def test_patches_by_patient_and_artefacts_by_kind(collected: Collected) -> None:
    manifest = collected.manifest
    assert manifest.sites == tuple(f"centre_{i}" for i in range(5))
    assert manifest.classes == ("normal", "tumour")
    truth = {patch_path(Path(), row).name: row.split(",") for row in rows()}
    assert manifest.group is not None
    for place, path in enumerate(collected.files):
        if manifest.label[place] == OUTLIER:
            assert manifest.split[place] == "train" and manifest.group[place] == ""
            continue
        _, patient, _, _, _, tumour, _, centre, _ = truth[path.name]
        assert manifest.site[place] == f"centre_{centre}"
        assert manifest.label[place] == int(tumour)
        assert manifest.group[place] == f"patient_{patient}"
        assert manifest.columns["image"][place].startswith(f"patches/patient_{patient}_node_")
    train, test = (set(manifest.group[manifest.split == side]) - {""} for side in ("train", "test"))
    assert not train & test
    assert len(train) + len(test) == sum(map(len, PATIENTS.values()))


def test_the_counts_stand_beside_the_papers(collected: Collected) -> None:
    counts = {(count.what, count.site): count for count in collected.counts}
    assert len(counts) == 5 + 5 + 20
    assert counts["ID training images", "centre_0"].expected == 7606
    assert counts["ID training images", "centre_0"].found == 4 * 8
    assert counts["ID test images", "centre_0"].expected is None
    assert counts["ID test images", "centre_0"].found == 8
    assert counts["OOD: tissue damage", "centre_3"].expected == 964
    blood = [counts["OOD: blood", site].found for site in collected.manifest.sites]
    assert sum(blood) == 25 and np.all(np.array(blood) > 0)


def test_a_patch_that_is_missing_is_named_and_its_place_stays_empty(tmp_path: Path) -> None:
    places = downloads(tmp_path)
    gone = patch_path(places[0], rows()[0])
    gone.unlink()
    whole = FedCamelyonCollector().collect(places)
    assert whole.missing == (gone.name,)
    assert sum(count.found for count in whole.counts if count.what.startswith("ID")) == 159
