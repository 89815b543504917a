"""What a mammogram counts as: one of four densities, or an outlier of one type; on which side."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from fidal.data.preparing.fedembed.artefacts import Annotator, Shown, resolve
from fidal.data.preparing.fedembed.paper import Artefact, Site
from fidal.data.preparing.fedembed.scanners import CLIENTS
from fidal.data.preparing.fedembed.split import Side
from fidal.data.preparing.fedembed.tables import Mammogram

Unannotated = Literal["refuse", "leave_out", "id"]


@dataclass(frozen=True, slots=True)
class Labelled:
    """A mammogram of one of the four clients, training or test."""

    mammogram: Mammogram
    site: Site
    side: Side
    """Of its patient in the base split."""
    shown: Shown
    artefact: Artefact | None
    """The type it counts as; None: in distribution."""
    annotator: Annotator | Literal["nobody"]


def label(
    mammograms: Sequence[Mammogram],
    sides: Mapping[str, Side],
    annotations: Mapping[Annotator, Mapping[str, Shown]],
    precedence: Sequence[Artefact],
    unannotated: Unannotated,
) -> list[Labelled]:
    """The four scanners' mammograms without those for validation.

    `annotations` in the order in which they are asked: the first that knows an image decides.
    """
    found = []
    nobody: list[str] = []
    for mammogram in mammograms:
        site, side = CLIENTS.get(mammogram.scanner), sides[mammogram.patient]
        if site is None or side == "validation":
            continue
        by = next((by for by, shown in annotations.items() if mammogram.name in shown), None)
        shown = annotations[by][mammogram.name] if by else frozenset[Artefact]()
        if by is None:
            nobody.append(mammogram.name)
        if by or unannotated == "id":
            artefact = resolve(shown, precedence)
            found.append(Labelled(mammogram, site, side, shown, artefact, by or "nobody"))
    if nobody and unannotated == "refuse":
        raise ValueError(
            f"{len(nobody)} of {len(found) + len(nobody)} images have no artefact annotation, "
            f"first '{nobody[0]}'; take the annotations of all of EMBED, or set unannotated to "
            "'leave_out', or to 'id' to take them for free of artefacts"
        )
    return found
