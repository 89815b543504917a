"""What limits a query: strategies that know the truth of the pool, each of one more thing.

    python benchmarks/oracles.py --out results/oracles.jsonl --seeds 10

id          which candidates belong, and asks for random ones of these
neighbours  that, and the class of every other image of the pool: each candidate is judged by a
            linear discriminant on g(x) that has seen all images but those of its own fold, and the
            largest expected rarity is asked. No query that goes by these embeddings knows more.
balanced    the class of each candidate, and asks for what is labelled least
everything  asks for the whole pool at once
"""

import argparse
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any, ClassVar, Literal

import numpy as np
import torch
import torch.nn.functional as F
from evidence_rows import PROBE, of_run
from pydantic import Field
from torch import Tensor

from fidal.experiment.config import make_experiment, put, read_table
from fidal.experiment.folder import RunFolder
from fidal.experiment.run import Run
from fidal.gates.densities.shrinkage import ledoit_wolf, whitener
from fidal.rows import append
from fidal.strategies.base import Pick, Strategy, top
from fidal.types import Pool

Knows = Literal["id", "neighbours", "balanced", "everything"]
FOLDS = 5
TEMPERATURE = 3.0
"""Of the discriminant's log-odds, which are too sure of themselves."""


class Oracle(Strategy):
    """Its truth never enters a `Pool`: it was told beforehand."""

    name: ClassVar[str] = "oracle"
    knows: Knows
    truth: Mapping[str, int] = Field(exclude=True)

    def pick(self, pool: Pool, budget: int, rng: np.random.Generator) -> Pick:
        truth = np.array([self.truth[sample] for sample in pool.ids])
        score = rng.random(len(truth))
        counts = np.bincount(pool.labelled.labels.numpy(), minlength=pool.global_logits.shape[1])
        if self.knows == "neighbours":
            score += 1e3 * expected_rarity(pool, truth, counts)
        if self.knows == "balanced":
            score -= rank_of_turns(truth, counts, rng) * 1e3
        score[truth < 0] -= 1e9
        return Pick(top(torch.from_numpy(score), budget))


def expected_rarity(
    pool: Pool, truth: np.ndarray[Any, Any], counts: np.ndarray[Any, Any]
) -> np.ndarray[Any, Any]:
    """sum_c p_c (-log pi_c), p of a discriminant that was fitted without the candidate's fold."""
    assert pool.coverage is not None and pool.labelled.coverage is not None
    u, known = pool.coverage.double(), pool.labelled.coverage.double()
    belongs = torch.from_numpy(truth >= 0)
    x = torch.cat([u[belongs], known])
    y = torch.cat([torch.from_numpy(truth)[belongs], pool.labelled.labels])
    fold = torch.from_numpy(np.random.default_rng(0).integers(FOLDS, size=len(y)))
    fold_of = torch.full((len(u),), -1)
    fold_of[belongs] = fold[: int(belongs.sum())]
    surprise = torch.from_numpy(-np.log((counts + 1) / (counts + 1).sum()))
    found = torch.zeros(len(u), dtype=torch.float64)
    for k in range(FOLDS):
        if bool((fold_of == k).any()):
            logits = discriminant(x[fold != k], y[fold != k], u[fold_of == k], len(counts))
            found[fold_of == k] = torch.softmax(logits / TEMPERATURE, dim=1) @ surprise
    return found.numpy()


def discriminant(x: Tensor, y: Tensor, queries: Tensor, classes: int) -> Tensor:
    """Log-odds under a Gaussian per class with one shrunk covariance; without a class, none."""
    member = F.one_hot(y, classes).double()
    means = member.T @ x / member.sum(0).clamp_min(1)[:, None]
    W = whitener(ledoit_wolf(x - means[y]))
    distance = torch.cdist(queries @ W, means @ W)
    return (-0.5 * distance.square()).masked_fill(member.sum(0) == 0, -torch.inf)


def rank_of_turns(
    truth: np.ndarray[Any, Any], counts: np.ndarray[Any, Any], rng: np.random.Generator
) -> np.ndarray[Any, Any]:
    """When each candidate's turn comes if the class that is labelled least is always next."""
    turn = np.zeros(len(truth))
    for c, n in enumerate(counts.tolist()):
        rows = rng.permutation(np.flatnonzero(truth == c))
        turn[rows] = n + np.arange(len(rows))
    return turn


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--out", type=Path, required=True, help="a .jsonl file, written anew")
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--split", default="flamby", help="of fedham")
    parser.add_argument("--cache", type=Path, default=Path("cache"))
    options = parser.parse_args()
    options.out.unlink(missing_ok=True)
    for knows in ("id", "neighbours", "balanced", "everything"):
        for seed in range(options.seeds):
            run_one(knows, seed, options.split, options.cache, options.out)


def run_one(knows: Knows, seed: int, split: str, cache: Path, out: Path) -> None:
    table = read_table(PROBE)
    del table["sweep"]
    put(table, "benchmark.split", split)
    if split == "validation":
        put(table, "benchmark.seed", seed + 1)
    if knows == "everything":
        table["budget"] = 10**6
    manifest = make_experiment({**table, "strategy": "random"}).benchmark.load(cache).manifest
    truth = dict(zip(manifest.ids, manifest.label.tolist(), strict=True))
    strategy = Oracle(knows=knows, truth=truth)
    experiment = make_experiment({**table, "seed": seed, "strategy": strategy})
    with tempfile.TemporaryDirectory() as scratch:
        Run(experiment, RunFolder(Path(scratch) / "run")).go(cache)
        for row in of_run(Path(scratch) / "run", experiment):
            append(out, {**row, "method": knows})


if __name__ == "__main__":
    main()
