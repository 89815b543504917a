"""Whom the model serves: the score by sex, age, skin tone or whatever a manifest has recorded."""

from collections.abc import Sequence

from fidal.report.frame import Study
from fidal.report.style import label
from fidal.report.subgroups import FEW, Subgroup
from fidal.report.tables.table import Column, Line, Table


def subgroup_scores(study: Study, groups: Sequence[Subgroup]) -> Table | None:
    """One line per group and method; None where no site kept predictions."""
    lines = []
    for group in groups:
        name = f"{group.column}: {group.value}"
        images = f"{group.images} (few)" if group.few else group.images
        for method in study.main:
            cells = (name, images, group.classes, label(method), group.scores[method])
            lines.append(Line(cells, study.strategy(method), name, ranked=not group.few))
    if not lines:
        return None
    return Table(
        name="subgroups",
        title="Results by subgroup",
        caption=(
            f"{study.name}, final round R{study.rounds[-1]}, all sites’ test images together, "
            "grouped by every column of the manifest that tells groups. Balanced accuracy is the "
            "mean recall of the classes that a group has images of, so groups of other classes "
            f"have another task. Groups below {FEW} images are marked as few and not ranked: their "
            "scores are mostly chance. Mean ± standard deviation over seeds, which says nothing of "
            "how few the images are. Best in bold, second underlined, within each group."
        ),
        columns=(
            Column("Subgroup"),
            Column("Test images"),
            Column("Classes"),
            Column("Method"),
            Column(f"{study.score_name} (%)", "high", 100),
        ),
        lines=tuple(lines),
    )
