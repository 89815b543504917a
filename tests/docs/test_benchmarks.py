"""What docs/benchmarks.md says of the benchmarks is what they are."""

import re

import pytest

from fidal.data.preparing import COLLECTORS
from fidal.data.preparing.fedcamelyon.artefacts import OOD as ARTEFACTS
from fidal.data.preparing.fedcamelyon.patches import ID_TRAIN as PATCHES
from fidal.data.preparing.fedisic import ID_TEST, ID_TRAIN
from fidal.data.preparing.fedisic.outliers import OOD
from tests.docs.blocks import ROOT

TEXT = (ROOT / "docs/benchmarks.md").read_text("utf-8")
TITLES = {"fedisic": "FedISIC", "fedembed": "FedEMBED"}


def section(title: str) -> str:
    return re.split(r"^## ", TEXT.split(f"\n## {title}\n")[1], flags=re.MULTILINE)[0]


def numbers(title: str, first: str) -> list[int]:
    """The numbers of the table's row that begins with this word."""
    (row,) = re.findall(rf"^\| {first} \|(.*)\|$", section(title), re.MULTILINE)
    return [int(cell.replace(",", "")) for cell in row.split("|")]


@pytest.mark.parametrize("name", TITLES)
def test_every_choice_is_listed(name: str) -> None:
    choices = re.findall(r"^\| `([^`]+)`(?:, `([^`]+)`)? \|", section(TITLES[name]), re.MULTILINE)
    assert {word for pair in choices for word in pair if word} == set(COLLECTORS[name].model_fields)


def test_the_counts_of_fedisic() -> None:
    for centre, site in enumerate(ID_TRAIN):
        expected = [centre, ID_TRAIN[site], ID_TEST[site], OOD[site]]
        assert numbers("FedISIC", site) == expected


def test_the_counts_of_fedcamelyon() -> None:
    for place, (site, n) in enumerate(PATCHES.items()):
        artefacts = [per_site[place] for per_site in ARTEFACTS.values()]
        assert numbers("FedCamelyon", site) == [place + 1, n, *artefacts, sum(artefacts)]


def test_every_preparation_has_its_command() -> None:
    for name in COLLECTORS:
        assert f"fidal data prepare {name} --from " in TEXT
