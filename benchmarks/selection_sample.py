"""What FIDAL's neighbour sample does to the query: how much of the exact one it still chooses."""

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import selection_arrays as arrays
import torch
from selection_measure import THREADS, cpu_seconds

from fidal.strategies import STRATEGIES

SEEDS = range(5)


@dataclass(frozen=True)
class Effect:
    """One sample size: CPU seconds of a query, and the overlap with the exact query."""

    sample: int | None
    seconds: float
    jaccard: float
    worst: float
    correlation: float
    """Of the ranks of C_ID."""


def effect_of_sampling(folder: Path, budget: int) -> list[Effect]:
    """The exact query and some with samples of growing size, each drawn five times."""
    torch.set_num_threads(THREADS)
    pool = arrays.read(folder)
    kind = STRATEGIES["fidal"]

    def query(sample: int | None, seed: int) -> tuple[set[str], torch.Tensor, float]:
        strategy = kind.model_validate({"neighbour_sample": sample})
        start = cpu_seconds()
        found = strategy.select(pool, budget, np.random.default_rng(seed))
        return set(found.ids), found.scores["support_count"], cpu_seconds() - start

    exact, counts, seconds = query(None, 0)
    effects = [Effect(None, seconds, 1.0, 1.0, 1.0)]
    for share in (2, 5, 10, 20, 50):
        sample = len(pool.ids) // share
        found = [query(sample, seed) for seed in SEEDS]
        overlap = [len(exact & ids) / len(exact | ids) for ids, _, _ in found]
        alike = float(np.mean([correlation(counts, other) for _, other, _ in found]))
        spent = min(seconds for _, _, seconds in found)
        effects.append(Effect(sample, spent, float(np.mean(overlap)), min(overlap), alike))
    return effects


def correlation(a: torch.Tensor, b: torch.Tensor) -> float:
    """Spearman's, ties broken by row."""
    ranks = torch.stack([x.argsort(stable=True).argsort() for x in (a, b)]).double()
    return float(torch.corrcoef(ranks)[0, 1])
