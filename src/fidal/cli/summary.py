"""The table at the end: the last round of each variant of each strategy, over its seeds."""

from collections.abc import Sequence

from rich.console import Console

from fidal.cli.table import print_table
from fidal.experiment.folder import RunFolder
from fidal.experiment.records import FEDERATION
from fidal.report.frame import Study
from fidal.report.reading import read_folders
from fidal.rows import Row, read

COLUMNS = {"BMA pooled": "bma_pooled", "BMA of sites": "bma_mean", "ID purity": "purity"}


def print_summary(console: Console, folders: Sequence[RunFolder]) -> None:
    """One line per variant and setting. A seed that lacks the last round is counted, `[2/3]`."""
    studies = read_folders([folder.path for folder in folders]).studies
    if not studies:
        return
    header = ("setting", "strategy", "seeds", "round", *COLUMNS, "ID / OOD labelled")
    rows = [_line(study, method) for study in studies for method in study.methods]
    print_table(console, header, rows)


def last_rows(folders: Sequence[RunFolder]) -> list[Row]:
    """The federation's row of each run's last round, for machines."""
    return [
        [dict(row) for row in read(folder.rounds) if row["site"] == FEDERATION][-1]
        for folder in folders
    ]


def _line(study: Study, method: str) -> tuple[str, ...]:
    last = study.rounds[-1]
    cells = [study.spread(method, key, last).text(scale=100) for key in COLUMNS.values()]
    labelled = study.spread(method, "labelled", last)
    outliers = study.spread(method, "outliers", last)
    counts = f"{labelled.mean:.0f} / {outliers.mean:.0f}" if labelled.seeds else "–"
    return (study.name, method, str(labelled.seeds), str(last), *cells, counts)
