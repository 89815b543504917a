from collections import Counter
from pathlib import Path

import pytest

from fidal.data.preparing.fedcamelyon.artefacts import artefacts
from fidal.data.preparing.fedcamelyon.patches import SITES
from fidal.data.preparing.originals import Originals
from fidal.types import OUTLIER
from tests.data.preparing.fedcamelyon import tree

TABLE_S1 = {
    "blood": [3185, 1855, 4201, 6353, 7144],
    "blur": [591, 360, 1312, 2150, 2384],
    "bubbles": [438, 261, 648, 918, 1079],
    "tissue damage": [540, 315, 642, 964, 1129],
}


class Many(Originals):
    """As many files as the paper took, and some more, without writing them."""

    def __init__(self) -> None:
        super().__init__([])
        numbers = {"blood": 22_738 + 30, "blur": 6_797, "bubble": 3_344 + 1, "damage": 3_590}
        for kind, n in numbers.items():
            self._places |= {f"training_{kind}_{i}.png": ["/x"] for i in range(n)}
        self._places |= {f"training_blood_20x_{i}.png": ["/x"] for i in range(50)}


def test_every_number_of_table_s1() -> None:
    entries = artefacts(Many(), seed=0)
    counts = Counter((entry.kind, entry.site) for entry in entries)
    for kind, numbers in TABLE_S1.items():
        assert [counts[kind, site] for site in SITES] == numbers
    sites = Counter(entry.site for entry in entries)
    assert [sites[site] for site in SITES] == [4754, 2791, 6803, 10_385, 11_736]
    assert len(entries) == len({entry.path for entry in entries}) == 36_469
    assert all(entry.split == "train" and entry.label == OUTLIER for entry in entries)
    assert not any("_20x_" in entry.path.name for entry in entries)


def test_too_few_are_dealt_in_proportion(tmp_path: Path) -> None:
    tree.artefacts(tmp_path)
    counts = Counter(entry.kind for entry in artefacts(Originals([tmp_path]), seed=0))
    assert counts == {"blood": 25, "blur": 15, "bubbles": 10, "tissue damage": 12}
    sites = Counter(entry.site for entry in artefacts(Originals([tmp_path]), seed=0))
    assert sites["centre_4"] > sites["centre_1"] > 0


@pytest.mark.parametrize("seed", [1, 2])
def test_the_deal_follows_from_the_seed(tmp_path: Path, seed: int) -> None:
    tree.artefacts(tmp_path)
    originals = Originals([tmp_path])
    assert artefacts(originals, seed) == artefacts(originals, seed)
    assert artefacts(originals, seed) != artefacts(originals, 0)
