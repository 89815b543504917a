"""FedEMBED: mammograms of four scanners as clients, breast density A to D, artefacts as outliers.

Section 4.1 and Table S2 of the paper. The images and tables are those of EMBED (Emory University),
the split that of Roschewitz et al. (MedIA 2025), the artefacts those of Schueppert et al. (ISBI
2025). Nothing that names a patient or an image in the originals is handed on: ids, groups and the
column "image" are pseudonyms.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import ClassVar, Final, Literal

from pydantic import Field, field_validator

from fidal.data.preparing.collected import Collected, Collector
from fidal.data.preparing.fedembed.artefacts import Annotator, read_artefacts
from fidal.data.preparing.fedembed.breast import Breast
from fidal.data.preparing.fedembed.counts import count
from fidal.data.preparing.fedembed.files import Format, locate
from fidal.data.preparing.fedembed.labels import Unannotated, label
from fidal.data.preparing.fedembed.listing import list_images
from fidal.data.preparing.fedembed.paper import ARTEFACTS, Artefact
from fidal.data.preparing.fedembed.split import VALIDATION, Strata, split_patients
from fidal.data.preparing.fedembed.tables import read_embed
from fidal.data.preparing.originals import Originals
from fidal.data.pseudonyms import Pseudonyms, read_salt

NO_SECRET: Final = b"fidal fedembed"
"""EMBED's own numbers are pseudonyms already; by a salt that all share, ids agree everywhere."""


class FedEmbedCollector(Collector):
    """EMBED by scanner: breast density A to D; markers, implants, devices as outliers."""

    name: ClassVar[str] = "fedembed"
    annotators: tuple[Annotator, ...] = Field(
        default=("predicted",),
        min_length=1,
        description="whose artefacts count: those that the detector predicted, or the expert's "
        "manual ones; of several the first that knows an image",
    )
    unannotated: Unannotated = Field(
        default="refuse",
        description="images that nobody looked at: an error, left out, or taken for ID",
    )
    precedence: tuple[Artefact, ...] = Field(
        default=ARTEFACTS, description="an image with several artefacts is of the first of these"
    )
    outliers_of_test: Literal["pool", "drop"] = Field(
        default="pool",
        description="outliers of test patients: into their scanner's training pool, or nowhere; "
        "the test is ID only",
    )
    strata: Strata = Field(
        default="published",
        description="the base split as its code draws it, or stratified by each patient's own "
        "first density",
    )
    validation_patients: int = Field(
        default=VALIDATION,
        ge=0,
        description="patients that the base split keeps for validation; nobody uses them here",
    )
    format: Format | None = Field(
        default=None, description="png or dicom; none: PNG if there are any, else DICOM"
    )
    height: int = Field(default=1024, ge=8, description="pixels")
    width: int = Field(default=768, ge=8, description="pixels")
    salt_file: Path | None = Field(
        default=None,
        description="a secret of this site, by which ids are hashed; none: one that all share, "
        "for EMBED's numbers are pseudonyms already",
    )

    @field_validator("precedence")
    @classmethod
    def _every_artefact_once(cls, precedence: tuple[Artefact, ...]) -> tuple[Artefact, ...]:
        if sorted(precedence) != sorted(ARTEFACTS):
            raise ValueError(f"must name each of {', '.join(ARTEFACTS)} once")
        return precedence

    def collect(self, folders: Sequence[Path]) -> Collected:
        """The mammograms of the four scanners, without those of validation patients."""
        salt = NO_SECRET if self.salt_file is None else read_salt(self.salt_file)
        originals = Originals(folders)
        embed = read_embed(originals)
        sides = split_patients(embed.mammograms, self.validation_patients, self.strata)
        annotations = {by: read_artefacts(originals, by, embed.names) for by in self.annotators}
        labelled = label(embed.mammograms, sides, annotations, self.precedence, self.unannotated)
        located = locate([image.mammogram for image in labelled], originals, self.format)
        listed = list_images(
            labelled, located, Pseudonyms(salt), pool=self.outliers_of_test == "pool"
        )
        return Collected(
            manifest=listed.manifest,
            files=listed.files,
            render=Breast(self.height, self.width),
            counts=count(
                embed, listed.present, len(listed.missing), expecting=self._is_the_papers()
            ),
            missing=listed.missing,
        )

    def _is_the_papers(self) -> bool:
        """Whether the paper has numbers for these choices."""
        return (
            self.annotators == ("predicted",)
            and self.unannotated != "leave_out"
            and self.strata == "published"
            and self.validation_patients == VALIDATION
        )
