"""The table at the end of a run: the last round of each strategy, mean and spread over seeds."""

import json
from collections import defaultdict

import numpy as np
from rich.console import Console

from fidal.cli.table import print_table
from fidal.experiment.folder import RunFolder
from fidal.experiment.records import FEDERATION
from fidal.rows import Row, read

COLUMNS = {"BMA pooled": "bma_pooled", "BMA of sites": "bma_mean", "ID purity": "purity"}


def print_summary(console: Console, folders: list[RunFolder], as_json: bool) -> None:
    """One line per strategy; under --json the rows themselves."""
    last = [_last_round(folder) for folder in folders]
    if as_json:
        print(json.dumps([dict(row) for row in last]))
        return
    by_strategy: dict[str, list[Row]] = defaultdict(list)
    for row in last:
        by_strategy[str(row["strategy"])].append(row)
    if last:
        header = ("strategy", "seeds", "round", *COLUMNS, "ID / OOD labelled")
        print_table(console, header, [_line(*item) for item in by_strategy.items()])


def _line(strategy: str, rows: list[Row]) -> list[str]:
    counts = f"{_mean(rows, 'labelled'):.0f} / {_mean(rows, 'outliers'):.0f}"
    rounds = ", ".join(sorted({str(row["round"]) for row in rows}))
    cells = [_percent(rows, key) for key in COLUMNS.values()]
    return [strategy, str(len(rows)), rounds, *cells, counts]


def _last_round(folder: RunFolder) -> Row:
    return [row for row in read(folder.rounds) if row["site"] == FEDERATION][-1]


def _values(rows: list[Row], key: str) -> np.ndarray:
    return np.array([row[key] for row in rows], dtype=np.float64)


def _mean(rows: list[Row], key: str) -> float:
    return float(_values(rows, key).mean())


def _percent(rows: list[Row], key: str) -> str:
    values = 100 * _values(rows, key)
    spread = f" ± {values.std(ddof=1):.1f}" if len(values) > 1 else ""
    return f"{values.mean():.1f}{spread}"
