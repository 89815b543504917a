"""How good is a pilot? By the labelled warm-up it names a gate; by the truth, which only a
benchmark has, some gate is the best. Prints a Markdown table.

    python benchmarks/pilot.py fedham --budgets 50 150 --seeds 10
"""

import argparse
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from fidal.experiment.config import make_experiment
from fidal.pilot.pools import site_pools
from fidal.pilot.recommendation import recommend
from fidal.pilot.scores import Score, scores
from fidal.pilot.trials import try_gates

SHARES = (0.0, 0.05, 0.15, 0.30)
PAPER = ("diagonal", "otsu")
USUAL = ("likelihood-ratio", "guarded-otsu")
ALIKE = 1e-9


@dataclass(frozen=True)
class Judged:
    """One pilot."""

    best: Score
    """By the truth."""
    named: Score
    """By the labels; its numbers by the truth."""
    said: Score
    """By the labels; its numbers by the labels."""
    paper: Score
    usual: Score
    suffices: bool | None
    """The verdict of the rule by the labels."""


def judge(benchmark: str, share: float, budget: int, seed: int, cache: Path) -> Judged:
    source = {"name": benchmark, "ood_share": share}
    if benchmark == "fedham":
        source["view"] = "embeddings"
    table = {"name": "pilot", "benchmark": source, "strategy": "fidal"}
    experiment = make_experiment({**table, "budget": budget, "seed": seed})
    sites = [try_gates(pool) for pool in site_pools(experiment, cache)]
    by_truth = {(score.density, score.threshold): score for score in scores(sites, "truth")}
    labels, truth = recommend(sites, "labels"), recommend(sites, "truth")
    assert labels is not None and truth is not None
    said = labels.score
    return Judged(
        best=truth.score,
        named=by_truth[said.density, said.threshold],
        said=said,
        paper=by_truth[PAPER],
        usual=by_truth[USUAL],
        suffices=said.suffices,
    )


def line(share: float, budget: int, found: Sequence[Judged]) -> str:
    exact = sum(j.named.cost <= j.best.cost + ALIKE for j in found)
    near = sum(j.named.cost <= j.best.cost + 1 for j in found)
    rule = sum(j.suffices == j.named.suffices for j in found)
    cells = [f"{share:.0%}", str(budget), f"{exact}/{len(found)}", f"{near}/{len(found)}"]
    for each in ("named", "best", "usual", "paper"):
        cells.append(f"{np.mean([getattr(j, each).cost for j in found]):.1f}")
    cells += [pair([j.said for j in found]), pair([j.named for j in found])]
    verdict = f"{rule}/{len(found)}" if found[0].suffices is not None else "–"
    return f"| {' | '.join([*cells, verdict])} |"


def pair(found: Sequence[Score]) -> str:
    recalls = [score.recall.value for score in found if score.recall is not None]
    caught = f"{100 * np.mean(recalls):.0f}" if recalls else "–"
    return f"{caught} / {100 * np.mean([score.id_loss.value for score in found]):.1f}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("benchmark", choices=("fedham", "phantom"))
    parser.add_argument("--budgets", type=int, nargs="+", default=[50])
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--cache", type=Path, default=Path("cache"))
    asked = parser.parse_args()
    print(
        "| OOD | labelled per site | names the best | or within 1 of it | cost: named | best "
        "| FIDAL's default | paper's gate | named, by the labels | named, in truth | rule right |"
    )
    print("|" + "---|" * 11)
    for budget in asked.budgets:
        for share in SHARES:
            seeds = range(asked.seeds)
            found = [judge(asked.benchmark, share, budget, seed, asked.cache) for seed in seeds]
            print(line(share, budget, found), flush=True)


if __name__ == "__main__":
    main()
