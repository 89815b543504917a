"""Recall per class, and calibration per site, at the final round."""

from fidal.report.comparing import final_round
from fidal.report.frame import Study
from fidal.report.spread import Spread
from fidal.report.style import label
from fidal.report.tables.table import Column, Line, Table


def recall(study: Study) -> Table:
    """Over the pooled test images of all sites."""
    lines = []
    for method in study.main:
        each = study.recalls(method)[:, final_round(study, method)]
        spreads = [Spread.over(column) for column in each.T]
        lines.append(Line((label(method), *spreads), study.strategy(method)))
    return Table(
        name="recall-per-class",
        title="Recall of each class",
        caption=(
            f"{study.name}, final round R{study.rounds[-1]}, all sites’ test images together: "
            "which share of a class’s images was recognised, in percent, mean ± standard deviation "
            "over seeds. Best in bold, second underlined."
        ),
        columns=(Column("Method"), *(Column(name, "high", 100) for name in study.classes)),
        lines=tuple(lines),
    )


def calibration(study: Study) -> Table:
    """How far a site can trust the stated confidence."""
    lines = []
    for method in study.main:
        round = final_round(study, method)
        each = [study.spread(method, "calibration_error", round, site) for site in study.sites]
        lines.append(Line((label(method), *each), study.strategy(method)))
    return Table(
        name="calibration-per-site",
        title="Calibration error of each site",
        caption=(
            f"{study.name}, final round R{study.rounds[-1]}. Expected calibration error on a "
            "site’s own test images (15 bins), in points: how far stated confidence and accuracy "
            "lie apart. Lower is better; best in bold, second underlined."
        ),
        columns=(Column("Method"), *(Column(site, "low", 100) for site in study.sites)),
        lines=tuple(lines),
    )
