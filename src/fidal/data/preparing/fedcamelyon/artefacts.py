"""The outliers of FedCamelyon: four slide artefacts of HistoArtifacts, those at 40x (Table S1).

Their files are called SPLIT_CLASS_NUMBER.png, with "_20x" before the number at the other
magnification, and say neither slide nor patient.
"""

import re
from collections import defaultdict
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from fidal.data.benchmark import TRAIN
from fidal.data.injection import deal, random_order
from fidal.data.preparing.entries import Entry
from fidal.data.preparing.fedcamelyon.patches import SITES
from fidal.data.preparing.originals import Originals
from fidal.types import OUTLIER

OOD: Final[Mapping[str, tuple[int, ...]]] = {
    "blood": (3_185, 1_855, 4_201, 6_353, 7_144),
    "blur": (591, 360, 1_312, 2_150, 2_384),
    "bubbles": (438, 261, 648, 918, 1_079),
    "tissue damage": (540, 315, 642, 964, 1_129),
}
"""Per centre."""
KINDS: Final = {"blood": "blood", "blur": "blur", "bubble": "bubbles", "damage": "tissue damage"}
"""HistoArtifacts' classes and the paper's names."""
NAME: Final = re.compile(r"[a-z]+_(blood|blur|bubble|damage)_\d+\.png")


def artefacts(originals: Originals, seed: int) -> list[Entry]:
    """Each kind dealt to the sites in the paper's numbers, or in proportion if there are fewer."""
    files: dict[str, list[Path]] = defaultdict(list)
    for match, path in originals.matching(NAME):
        files[KINDS[match[1]]].append(path)
    entries = []
    for kind, numbers in OOD.items():
        there = files[kind]
        order = [there[i] for i in random_order((path.name for path in there), seed)]
        sites = deal(len(order), dict(zip(SITES, numbers, strict=True)))
        entries += [
            Entry(path, site, TRAIN, OUTLIER, kind)
            for path, site in zip(order, sites, strict=False)  # what is left over stays out
        ]
    return entries
