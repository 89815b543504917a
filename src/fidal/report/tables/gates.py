"""What the gate caught and what it lost, per site."""

import numpy as np

from fidal.report.frame import Study
from fidal.report.spread import Floats, Spread
from fidal.report.style import label
from fidal.report.tables.table import Column, Line, Table

COLUMNS = {
    "gate.true_recall": "OOD caught (%)",
    "gate.true_id_loss": "ID lost (%)",
    "gate.recall": "OOD caught, by labels (%)",
    "gate.id_loss": "ID lost, by labels (%)",
    "gate.rejected": "Refused (%)",
    "gate.ood_share": "OOD, estimated (%)",
    "pool_ood_share": "OOD, true (%)",
}
"""What only a benchmark knows comes first; "by labels" is what a site can tell by itself."""


def gates(study: Study) -> Table | None:
    """Mean over the rounds in which the gate was at work; None if no method has a gate."""
    lines = []
    for method in (m for m in study.main if has_gate(study, m)):
        for site in study.sites:
            numbers = [over_rounds(study.values(method, key, site)) for key in COLUMNS]
            lines.append(Line((label(method), site, *numbers), study.strategy(method)))
    if not lines:
        return None
    return Table(
        name="gate-per-site",
        title="What the gate caught and what it lost",
        caption=(
            f"{study.name}, mean over query rounds, ± standard deviation over seeds. Caught and "
            "lost over all candidates, which only a benchmark knows; beside them what a site can "
            "tell from the images it has had labelled."
        ),
        columns=(
            Column("Method"),
            Column("Site"),
            *(Column(name, scale=100) for name in COLUMNS.values()),
        ),
        lines=tuple(lines),
    )


def has_gate(study: Study, method: str) -> bool:
    """Did a gate report anything, at any site and round?"""
    return any(
        bool(np.isfinite(study.values(method, "gate.rejected", site)).any()) for site in study.sites
    )


def over_rounds(values: Floats) -> Spread:
    """In: seeds x rounds. Each seed's mean over the rounds that have the number, then the seeds."""
    there = np.isfinite(values)
    sums, counts = np.where(there, values, 0).sum(1), there.sum(1)
    means = np.divide(sums, counts, out=np.full(len(values), np.nan), where=counts > 0)
    return Spread.over(means)
