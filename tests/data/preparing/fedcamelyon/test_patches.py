from pathlib import Path

import numpy as np
import pytest

from fidal.data.benchmark import DataAbsent
from fidal.data.preparing.fedcamelyon.patches import SITES, Patches, choose, read_patches
from fidal.data.preparing.originals import Originals
from tests.data.preparing.fedcamelyon.tree import HEADER, rows

CENTRES = (59_436, 34_904, 85_054, 129_838, 146_722)
"""Patches of each centre in WILDS: 455,954."""


@pytest.fixture(scope="module")
def whole() -> Patches:
    """Metadata of the real size: eight patients per centre, of very unequal shares."""
    rng = np.random.default_rng(0)
    site = np.repeat(SITES, CENTRES)
    shares = np.array([0.3, 0.2, 0.15, 0.1, 0.1, 0.07, 0.05, 0.03])
    patient = np.concatenate([20 * c + rng.choice(8, n, p=shares) for c, n in enumerate(CENTRES)])
    label = (rng.random(len(site)) < 0.1 + 0.08 * (patient % 8)).astype(np.int64)
    names = tuple(f"patch_{i}.png" for i in range(len(site)))
    return Patches(names, site, patient.astype(str), label)


def test_the_papers_counts_with_whole_patients_on_either_side(whole: Patches) -> None:
    chosen = choose(whole, seed=0)
    train, test = chosen["train"], chosen["test"]
    counts = [int((whole.site[train] == site).sum()) for site in SITES]
    assert counts == [7_606, 4_465, 10_884, 16_616, 18_777]
    assert not set(whole.patient[train]) & set(whole.patient[test])
    for site in SITES:
        here = whole.site == site
        learners = set(whole.patient[train[whole.site[train] == site]])
        assert len(learners) == 6  # 0.8 * 8 to the nearest
        pool = np.flatnonzero(here & np.isin(whole.patient, list(learners)))
        others = np.flatnonzero(here & ~np.isin(whole.patient, list(learners)))
        rate = counts[SITES.index(site)] / len(pool)
        mine = test[whole.site[test] == site]
        assert len(mine) == round(rate * len(others))
        for rows_, among in ((train[whole.site[train] == site], pool), (mine, others)):
            exact = len(rows_) * whole.label[among].mean()
            assert abs(whole.label[rows_].sum() - exact) < 1
    assert len(set(train.tolist())) == 58_348


def metadata(folder: Path, lines: list[str], header: str = HEADER) -> Originals:
    (folder / "metadata.csv").write_text("\n".join([header, *lines]) + "\n")
    return Originals([folder])


def test_the_metadata_gives_names_centres_and_labels(tmp_path: Path) -> None:
    patches = read_patches(metadata(tmp_path, rows()))
    assert patches.names[1] == "patch_patient_004_node_0_x_3040_y_21096.png"
    assert patches.site[[0, -1]].tolist() == ["centre_0", "centre_4"]
    assert patches.patient[0] == "004"
    assert patches.label[:5].tolist() == [1, 0, 0, 0, 1]
    again = read_patches(metadata(tmp_path, [line.replace(",004,", ",4,") for line in rows()]))
    assert again.names == patches.names  # a spreadsheet has eaten the zeros


def test_another_seed_takes_other_patients_and_patches(tmp_path: Path) -> None:
    patches = read_patches(metadata(tmp_path, rows()))
    one, again, other = (choose(patches, seed) for seed in (0, 0, 1))
    for split in ("train", "test"):
        np.testing.assert_array_equal(one[split], again[split])
        assert set(patches.patient[one[split]]) != set(patches.patient[other[split]])


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        ("1,004,0,3040,21096", "1,004,0,3008,21000", "row 3, column 'x_coord': '3008' is of a pat"),
        ("3040,21096,0,0,0", "3040,21096,2,0,0", "row 3, column 'tumor': '2' is no class"),
        ("3040,21096,0,0,0", "3040,21096,0,0,5", "row 3, column 'center': '5' is unknown"),
        ("3040,21096,0,0,0", "3040,21096,0,0,1", "row 3, column 'patient': '004' is at another"),
    ],
)
def test_rows_that_cannot_be(tmp_path: Path, old: str, new: str, told: str) -> None:
    lines = "\n".join(rows())
    assert old in lines
    with pytest.raises(ValueError, match=told):
        read_patches(metadata(tmp_path, lines.replace(old, new, 1).splitlines()))


def test_a_missing_column_or_file(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="column 'tumor' is missing; did you mean 'tumour'"):
        read_patches(metadata(tmp_path, rows(), HEADER.replace("tumor", "tumour")))
    (tmp_path / "metadata.csv").unlink()
    with pytest.raises(DataAbsent, match=r"no 'metadata\.csv' .* comes with Camelyon17-WILDS"):
        read_patches(Originals([tmp_path]))
