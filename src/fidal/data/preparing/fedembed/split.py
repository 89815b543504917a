"""The base split of Roschewitz et al. (MedIA 2025): 75 % of the patients train, 600 validate, the
rest test. Which patients is decided by scikit-learn's `train_test_split` with seed 33.
"""

import math
from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Final, Literal

from sklearn.model_selection import train_test_split

from fidal.data.preparing.fedembed.clinical import CLASSES
from fidal.data.preparing.fedembed.tables import Mammogram

Side = Literal["train", "validation", "test"]
Strata = Literal["published", "patient"]

HELD: Final = 0.25
SEED: Final = 33
VALIDATION: Final = 600
"""The first so many of the patients that do not train."""


def split_patients(
    mammograms: Iterable[Mammogram], validation: int, strata: Strata
) -> Mapping[str, Side]:
    """The side of every patient. `mammograms` come in the order of the joined table.

    The published code hands over the patients in the order of the table and their first densities
    in the order of the patients' numbers, so that the density that steers where a patient goes is
    in general another patient's. "published" does the same and gives its split, patient by patient;
    "patient" stratifies by the patient's own first density and gives another.
    """
    first: dict[str, int] = {}
    for mammogram in mammograms:
        first.setdefault(mammogram.patient, mammogram.density)
    order = sorted(first, key=int) if strata == "published" else list(first)
    _check_enough(first)
    train, held = train_test_split(
        list(first),
        test_size=HELD,
        random_state=SEED,
        stratify=[first[patient] for patient in order],
    )
    if len(held) <= validation:
        raise ValueError(
            f"validation_patients: the base split holds out {len(held)} of {len(first)} patients; "
            f"with {validation} of them for validation none are left to test on; are the tables "
            "whole? For a part of EMBED set a smaller number"
        )
    sides: dict[str, Side] = dict.fromkeys(train, "train")
    sides |= dict.fromkeys(held[:validation], "validation")
    return sides | dict.fromkeys(held[validation:], "test")


def _check_enough(first: Mapping[str, int]) -> None:
    """Two patients of each density that occurs, and a held-out place for each of these."""
    counts = Counter(first.values())
    rarest, patients = min(counts.items(), key=lambda item: item[1], default=(0, 0))
    if patients < 2 or math.ceil(len(first) * HELD) < len(counts):
        raise ValueError(
            f"the base split needs two patients of every density, and more than {len(counts)} in "
            f"four of them; there are {len(first)} patients, {patients} of density "
            f"{CLASSES[rarest]}; are the tables whole?"
        )
