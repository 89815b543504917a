from collections import Counter
from pathlib import Path

import pytest

from fidal.data.preparing.fedembed.split import split_patients
from fidal.data.preparing.fedembed.tables import Mammogram, read_embed
from fidal.data.preparing.originals import Originals
from tests.data.preparing.fedembed.tree import embed, write_tables

HELD = (
    *("66790082", "32222206", "39629608", "58148113"),
    *("30987639", "45802443", "14938268", "70493783"),
    *("22345670", "12469134", "56913546", "51975278"),
)
"""Of the 45 patients of `tree.embed`, in their order: what the published recipe (pandas'
`groupby(...).unique()` beside `unique()`, then `train_test_split`) holds out, computed with
pandas 3.1 and scikit-learn 1.9."""


def patients(densities: list[int]) -> list[Mammogram]:
    """Patients 99, 98, ... of these first densities, each with a second image of another."""
    made = []
    for turn, density in enumerate(densities):
        for value in (density, (density + 1) % 4):
            made.append(Mammogram(f"{turn}.{value}", str(99 - turn), value, "Lorad Selenia"))
    return made


def test_the_published_split_patient_by_patient(tmp_path: Path) -> None:
    mammograms = read_embed(Originals([write_tables(tmp_path, embed())])).mammograms
    sides = split_patients(mammograms, 3, "published")
    assert tuple(p for p, side in sides.items() if side == "validation") == HELD[:3]
    assert tuple(p for p, side in sides.items() if side == "test") == HELD[3:]
    assert sides.keys() == {image.patient for image in mammograms}
    assert Counter(sides.values()) == {"train": 33, "validation": 3, "test": 9}


def test_strata_of_the_patients_themselves() -> None:
    """8, 16, 24 and 32 patients: exactly a quarter of each is held out."""
    densities = [0] * 8 + [1] * 16 + [2] * 24 + [3] * 32
    sides = split_patients(patients(densities), 0, "patient")
    held = Counter(densities[99 - int(p)] for p, side in sides.items() if side == "test")
    assert held == {0: 2, 1: 4, 2: 6, 3: 8}


def test_the_published_code_pairs_patients_with_densities_of_others() -> None:
    """Patients appear from 99 down, so the sorted densities are those of the others in reverse."""
    densities = [0] * 8 + [1] * 16 + [2] * 24 + [3] * 32
    sides = split_patients(patients(densities), 0, "published")
    mirrored = Counter(densities[::-1][99 - int(p)] for p, side in sides.items() if side == "test")
    assert mirrored == {0: 2, 1: 4, 2: 6, 3: 8}
    ascending = list(reversed(patients(densities[::-1])))
    # Where patients appear in the order of their numbers both are the same.
    first = [ascending[i] for pair in range(0, 160, 2) for i in (pair + 1, pair)]
    assert split_patients(first, 5, "published") == split_patients(first, 5, "patient")


def test_the_first_density_counts() -> None:
    """The second image of every patient says another one; it changes nothing."""
    densities = [turn % 4 for turn in range(40)]
    once = [image for image in patients(densities) if image.name.endswith(f".{image.density}")]
    firsts = [once[i] for i in range(0, 80, 2)]
    assert split_patients(firsts, 2, "published") == split_patients(
        patients(densities), 2, "published"
    )


def test_no_patient_left_to_test_on() -> None:
    mammograms = patients([turn % 4 for turn in range(40)])
    with pytest.raises(ValueError, match=r"validation_patients: .* holds out 10 of 40 patients"):
        split_patients(mammograms, 10, "published")
    assert "test" in split_patients(mammograms, 9, "published").values()


@pytest.mark.parametrize("densities", [[], [0, 1, 1, 1, 1, 1, 1, 1], [0, 0, 1, 1, 2, 2, 3, 3]])
def test_too_few_patients_to_split(densities: list[int]) -> None:
    with pytest.raises(ValueError, match="the base split needs two patients of every density"):
        split_patients(patients(densities), 0, "published")
