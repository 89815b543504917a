"""The rows behind docs/results.md: of each finished run the federation's, without counts.

python benchmarks/results_rows.py RUNS... > results/NAME.jsonl
"""

import argparse
import json
from pathlib import Path

from fidal.experiment.records import FEDERATION
from fidal.rows import read

KEPT = (
    "run",
    "benchmark",
    "strategy",
    "seed",
    "round",
    "bma_mean",
    "bma_pooled",
    "accuracy_pooled",
    "recall",
    "labelled",
    "outliers",
    "purity",
    "pool_ood_share",
)


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("runs", nargs="+", type=Path, help="folders of run folders")
    folders = [
        file.parent for runs in parser.parse_args().runs for file in runs.rglob("rounds.jsonl")
    ]
    for folder in sorted(folders, key=lambda one: one.name):
        rows = [row for row in read(folder / "rounds.jsonl") if row["site"] == FEDERATION]
        planned = json.loads((folder / "config.json").read_text())["rounds"]
        if rows and rows[-1]["round"] == planned:
            for row in rows:
                kept = {key: _short(row.get(key)) for key in KEPT}
                print(json.dumps(kept))


def _short(value: object) -> object:
    if isinstance(value, list):
        return [_short(one) for one in value]
    return round(value, 5) if isinstance(value, float) else value


if __name__ == "__main__":
    main()
