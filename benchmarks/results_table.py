"""The tables of docs/results.md from its rows.

python benchmarks/results_table.py results/NAME.jsonl
"""

import argparse
import json
from collections import defaultdict
from pathlib import Path

import numpy as np
from scipy import stats

REFERENCE = "fidal"


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("rows", type=Path)
    last: dict[str, dict[int, dict[str, float]]] = defaultdict(dict)
    for line in parser.parse_args().rows.read_text().splitlines():
        row = json.loads(line)
        last[row["strategy"]][row["seed"]] = row  # rows are in the order of rounds
    heads = ["strategy", "seeds", "BMA pooled", "BMA, mean of sites", "ID purity"]
    print("| " + " | ".join([*heads, "fidal's lead, pooled (95 %)"]) + " |")
    print("|---" * (len(heads) + 1) + "|")
    for name in sorted(last, key=lambda one: -_mean(last[one], "bma_pooled")):
        runs = last[name]
        cells = [_cell(runs, key) for key in ("bma_pooled", "bma_mean", "purity")]
        print(f"| {name} | {len(runs)} | {' | '.join(cells)} | {_lead(last[REFERENCE], runs)} |")


def _values(runs: dict[int, dict[str, float]], key: str) -> np.ndarray:
    return np.array([100 * runs[seed][key] for seed in sorted(runs)])


def _mean(runs: dict[int, dict[str, float]], key: str) -> float:
    return float(_values(runs, key).mean())


def _cell(runs: dict[int, dict[str, float]], key: str) -> str:
    values = _values(runs, key)
    return f"{values.mean():.1f} ± {values.std(ddof=1):.1f}"


def _lead(ours: dict[int, dict[str, float]], theirs: dict[int, dict[str, float]]) -> str:
    """Mean of the paired differences over common seeds, with Student's interval."""
    seeds = sorted(ours.keys() & theirs.keys())
    if ours is theirs or len(seeds) < 2:
        return ""
    apart = np.array([100 * (ours[s]["bma_pooled"] - theirs[s]["bma_pooled"]) for s in seeds])
    half = stats.t.ppf(0.975, len(seeds) - 1) * apart.std(ddof=1) / len(seeds) ** 0.5
    return f"{apart.mean():+.1f} ({apart.mean() - half:+.1f} to {apart.mean() + half:+.1f})"


if __name__ == "__main__":
    main()
