"""FedEMBED's numbers beside the paper's: the base split, Section 4.1, Table S2."""

from collections import Counter
from collections.abc import Mapping, Sequence

from fidal.data.preparing.collected import Count
from fidal.data.preparing.fedembed.labels import Labelled
from fidal.data.preparing.fedembed.paper import ARTEFACTS, PAPER, SITES, Artefact, Site
from fidal.data.preparing.fedembed.split import Side
from fidal.data.preparing.fedembed.tables import Embed

ALL = "all"


def count(
    embed: Embed, labelled: Sequence[Labelled], missing: int, *, expecting: bool
) -> tuple[Count, ...]:
    """The steps from the tables, then each client's images and artefacts.

    `expecting`: whether the choices are the paper's, so that its numbers are expected and not only
    told. Those of the types never are: how the paper resolves images with several is not known.
    """
    steps = [Count(what, ALL, expected, found) for what, expected, found in embed.steps]
    steps.append(Count("images without a file", ALL, 0, missing))
    sides = Counter((image.site, image.side) for image in labelled)
    kinds = Counter((image.site, image.artefact) for image in labelled)
    for site in SITES:
        steps += _images(site, sides, expecting)
        steps += _outliers(site, kinds, expecting)
    return tuple(steps)


def _images(site: Site, sides: Counter[tuple[Site, Side]], expecting: bool) -> list[Count]:
    paper = PAPER[site]
    numbers: Mapping[Side, int] = {"train": paper.train, "test": paper.test}
    words = {"train": "training", "test": "test"}
    return [
        Count(
            f"images of {words[side]} patients, outliers among them",
            site,
            number if expecting else None,
            sides[site, side],
        )
        for side, number in numbers.items()
    ]


def _outliers(
    site: Site, kinds: Counter[tuple[Site, Artefact | None]], expecting: bool
) -> list[Count]:
    """Table S2: counts, and in brackets their shares of the scanner's images."""
    paper = PAPER[site]
    images = sum(kinds[site, kind] for kind in (None, *ARTEFACTS))

    def beside(found: int, theirs: int) -> str:
        share = f"{100 * found / images:.2f} %" if images else "of no images"
        return f"{share} (paper: {theirs:,}, {100 * theirs / paper.images:.2f} %)"

    found = images - kinds[site, None]
    total = Count(
        f"OOD images, {beside(found, paper.outliers)}",
        site,
        paper.outliers if expecting else None,
        found,
    )
    types = [
        Count(
            f"OOD: {kind}, {beside(kinds[site, kind], paper.artefacts[kind])}",
            site,
            None,
            kinds[site, kind],
        )
        for kind in ARTEFACTS
    ]
    return [total, *types]
