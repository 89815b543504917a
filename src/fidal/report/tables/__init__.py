"""Every table of the report. A new one is its own file and one line in `tables_of`."""

from collections.abc import Sequence

from fidal.report.extras import NOTHING, Extras
from fidal.report.frame import Study
from fidal.report.tables.cost import READING_SECONDS, cost
from fidal.report.tables.efficiency import efficiency
from fidal.report.tables.gate_rules import gate_rules
from fidal.report.tables.gates import gates
from fidal.report.tables.headline import headline
from fidal.report.tables.intervals import intervals
from fidal.report.tables.paired import paired
from fidal.report.tables.per_class import calibration, recall
from fidal.report.tables.pool import pool
from fidal.report.tables.rounds import rounds
from fidal.report.tables.side_by_side import side_by_side
from fidal.report.tables.subgroup_scores import subgroup_scores
from fidal.report.tables.sweep import sweep
from fidal.report.tables.table import Table
from fidal.report.tables.timing import timing
from fidal.report.tables.variants import variants
from fidal.report.variations import Variation


def tables_of(
    study: Study, extras: Extras = NOTHING, seconds: float = READING_SECONDS
) -> list[Table]:
    """Those that a study holds something for, in the order of the page."""
    every = (
        headline(study, "best"),
        headline(study, "final"),
        cost(study, seconds),
        paired(study),
        intervals(study),
        efficiency(study, seconds),
        recall(study),
        subgroup_scores(study, extras.subgroups),
        gate_rules(study, extras.gate),
        gates(study),
        variants(study),
        calibration(study),
        pool(study, extras.album.benchmark.manifest if extras.album else None),
        timing(study),
        rounds(study),
    )
    return [table for table in every if table is not None and table.lines]


def tables_of_sweep(lines: Sequence[Variation]) -> list[Table]:
    """Those of one benchmark in several settings."""
    return [sweep(lines, "best"), sweep(lines, "final")]


def tables_across(studies: Sequence[Study]) -> list[Table]:
    """Those that set benchmarks side by side, one study of each."""
    return [side_by_side(studies, "best"), side_by_side(studies, "final")]
