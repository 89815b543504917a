"""The rows behind docs/results.md: what the tables need of many runs, one line per run and round.

    python benchmarks/evidence_rows.py runs/main-fedham --out results/main.jsonl

A line holds the federation's numbers of one round, `answers`, how many images were answered OOD
and of each class so far, and how its run differs from experiments/fedham_probe.toml.
"""

import argparse
import json
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from fidal.experiment.config import Experiment, make_experiment, read_table
from fidal.experiment.records import FEDERATION
from fidal.experiment.sweep import expand
from fidal.report.frame import NOT_SETTING
from fidal.report.labels import label_variants, value_at, varying
from fidal.rows import Row, append, read
from fidal.storage import load_state
from fidal.strategies import STRATEGIES
from fidal.types import OUTLIER

PROBE = Path(__file__).parents[1] / "experiments" / "fedham_probe.toml"
KEPT = ("bma_pooled", "bma_mean", "accuracy_pooled", "purity", "labelled", "outliers", "filled")
GATE = ("true_recall", "true_id_loss")


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("runs", type=Path, nargs="+", help="folders of run folders")
    parser.add_argument("--out", type=Path, required=True, help="a .jsonl file, written anew")
    options = parser.parse_args()
    options.out.unlink(missing_ok=True)
    options.out.parent.mkdir(parents=True, exist_ok=True)
    folders = [file.parent for runs in options.runs for file in runs.rglob("config.json")]
    lines = [line for folder in folders for line in of_run(folder, experiment_of(folder))]
    for line in sorted(lines, key=lambda line: json.dumps([line[key] for key in ORDER])):
        append(options.out, line)
    print(f"{options.out}: {len(lines)} lines of {len(folders)} runs")


ORDER = ("setting", "method", "seed", "round")


def experiment_of(folder: Path) -> Experiment:
    """Validated, so that a run made before a field was there has its default."""
    return make_experiment(json.loads((folder / "config.json").read_text()))


def of_run(folder: Path, experiment: Experiment) -> Iterator[Row]:
    rounds = [row for row in read(folder / "rounds.jsonl") if row["site"] == FEDERATION]
    if load_state(folder / "state.safetensors")[1].get("done") != "True":
        raise ValueError(f"{folder} has not ended; go on with it: fidal resume {folder}")
    answers = answered(folder, len(rounds[0]["classes"]))  # type: ignore[arg-type]
    head = {
        "setting": setting(experiment),
        "method": method(experiment),
        "strategy": experiment.strategy.name,
        "seed": experiment.seed,
    }
    for row in rounds:
        gate = row["gate"] if isinstance(row["gate"], dict) else {}
        yield {
            **head,
            "round": row["round"],
            **{key: row[key] for key in KEPT},
            "recall": [round(x, 4) for x in row["recall"]],  # type: ignore[union-attr, arg-type]
            "answers": next(answers),
            **{key: gate.get(key) for key in GATE},
        }


def answered(folder: Path, classes: int) -> Iterator[list[int]]:
    """Round by round: all answers so far, OOD first, then each class."""
    files = [read(file) for file in sorted(folder.glob("sites/*/queries.jsonl"))]
    so_far: Counter[int] = Counter()
    for rows in zip(*files, strict=True):
        so_far.update(answer for row in rows for answer in row["answers"])  # type: ignore[union-attr, misc]
        yield [so_far[answer] for answer in range(OUTLIER, classes)]


def setting(experiment: Experiment) -> dict[str, Any]:
    """What differs from the probe of the README, but for strategy and seed."""
    ours, theirs = (
        {key: value for key, value in each.items() if key not in NOT_SETTING}
        for each in (dumped(experiment), dumped(expand(read_table(PROBE))[0]))
    )
    paths = sorted(varying([ours, theirs]))
    return {".".join(path): value_at(ours, path) for path in paths}


def method(experiment: Experiment) -> str:
    """The strategy and what differs from its defaults; all of it where it has none."""
    known = STRATEGIES.get(experiment.strategy.name)
    usual = known().model_dump(mode="json") if known else {}
    own = experiment.strategy.model_dump(mode="json")
    text = label_variants([own, usual], usual)[0]
    return f"{experiment.strategy.name} ({text})" if text else experiment.strategy.name


def dumped(experiment: Experiment) -> dict[str, Any]:
    return experiment.model_dump(mode="json")


if __name__ == "__main__":
    main()
