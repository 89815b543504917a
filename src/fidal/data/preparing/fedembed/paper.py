"""What the paper and its sources say about the numbers of FedEMBED's images."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, Literal, get_args

Artefact = Literal["implant", "devices", "compression", "triangle", "circle"]
ARTEFACTS: Final[tuple[Artefact, ...]] = get_args(Artefact)
Site = Literal["selenia_dimensions", "senograph_2000d", "lorad_selenia", "clearview_csm"]
SITES: Final[tuple[Site, ...]] = get_args(Site)

METADATA_ROWS: Final = 480_323
USABLE_ROWS: Final = 420_457
JOINED_ROWS: Final = 418_819
"""Before and after the filters of images, and with a density: printed by the notebook of
Roschewitz et al. (MedIA 2025) that makes the base split's table."""


@dataclass(frozen=True)
class Scanner:
    """One client's row of Section 4.1 and of Table S2."""

    train: int
    test: int
    artefacts: Mapping[Artefact, int]
    """Over training and test together."""

    @property
    def images(self) -> int:
        """What the ratios of Table S2 are shares of."""
        return self.train + self.test

    @property
    def outliers(self) -> int:
        """Images with any artefact."""
        return sum(self.artefacts.values())


def _scanner(train: int, test: int, *table_s2: int) -> Scanner:
    """`table_s2` in the order of its columns: implants, compression, devices, triangle, circle."""
    order: tuple[Artefact, ...] = ("implant", "compression", "devices", "triangle", "circle")
    return Scanner(train, test, dict(zip(order, table_s2, strict=True)))


PAPER: Final[Mapping[Site, Scanner]] = {
    "selenia_dimensions": _scanner(198_726, 58_925, 7_341, 239, 680, 3_705, 21_839),
    "senograph_2000d": _scanner(10_043, 2_810, 761, 71, 36, 212, 341),
    "lorad_selenia": _scanner(7_749, 2_421, 424, 8, 29, 200, 597),
    "clearview_csm": _scanner(6_182, 1_735, 1, 0, 7, 6, 368),
}
