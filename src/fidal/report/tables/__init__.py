"""Every table of the report. A new one is its own file and one line in `tables_of`."""

from collections.abc import Sequence

from fidal.data.benchmark import Manifest
from fidal.report.frame import Study
from fidal.report.tables.cost import READING_SECONDS, cost
from fidal.report.tables.efficiency import efficiency
from fidal.report.tables.gates import gates
from fidal.report.tables.headline import across, headline
from fidal.report.tables.paired import paired
from fidal.report.tables.per_class import calibration, recall
from fidal.report.tables.pool import pool
from fidal.report.tables.rounds import rounds
from fidal.report.tables.table import Table
from fidal.report.tables.timing import timing
from fidal.report.tables.variants import variants


def tables_of(
    study: Study, manifest: Manifest | None = None, seconds: float = READING_SECONDS
) -> list[Table]:
    """Those that a study's rows hold something for."""
    every = (
        headline(study, "best"),
        headline(study, "final"),
        cost(study, seconds),
        paired(study),
        efficiency(study, seconds),
        recall(study),
        gates(study),
        variants(study),
        calibration(study),
        pool(study, manifest),
        timing(study),
        rounds(study),
    )
    return [table for table in every if table is not None and table.lines]


def tables_across(studies: Sequence[Study]) -> list[Table]:
    """Those that set several studies side by side."""
    return [across(studies, "best"), across(studies, "final")] if len(studies) > 1 else []
