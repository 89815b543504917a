"""Each gate over all sites: caught, lost, and one number that weighs the two."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, Literal

import numpy as np
from scipy.stats import beta

from fidal.pilot.trials import Rates, SiteTrials, Trial

Basis = Literal["labels", "truth"]
"""What a gate is judged by: the labelled warm-up, which every consortium has, or the labels of all
candidates, which only a benchmark has."""

CATCHES: Final = 0.90
LOSES: Final = 0.02
"""The paper's rule (Section 5.2): a gate suffices that catches 90 % at 2 % ID loss or better."""

CONFIDENCE: Final = 0.95


@dataclass(frozen=True)
class Share:
    """A share, and between which bounds it lies as far as so few images can tell."""

    value: float
    low: float
    high: float


@dataclass(frozen=True)
class Score:
    """One gate over all sites."""

    density: str
    threshold: str
    recall: Share | None
    """OOD caught; None where there is no outlier to be caught."""
    id_loss: Share
    auroc: float | None

    @property
    def cost(self) -> float:
        """OOD missed in units of 10 %, plus ID lost in units of 2 %: the paper's rule as a trade.

        A gate that meets both bounds costs 2 at most. On a pool without outliers only the loss
        counts, which the rule itself says nothing about.
        """
        missed = 0.0 if self.recall is None else 1 - self.recall.value
        return missed / (1 - CATCHES) + self.id_loss.value / LOSES

    @property
    def suffices(self) -> bool | None:
        """Does it meet the rule? None where there is no outlier."""
        if self.recall is None:
            return None
        return self.recall.value >= CATCHES and self.id_loss.value <= LOSES

    @property
    def certain(self) -> bool:
        """Would it be the same anywhere between the bounds?"""
        if self.recall is None:
            return False
        fits = self.recall.low >= CATCHES and self.id_loss.high <= LOSES
        fails = self.recall.high < CATCHES or self.id_loss.low > LOSES
        return fits or fails


def scores(sites: Sequence[SiteTrials], basis: Basis) -> list[Score]:
    """One per gate, in the order of densities and thresholds; none where the basis is missing."""
    by_gate: dict[tuple[str, str], list[Trial]] = {}
    for site in sites:
        for trial in site.trials:
            by_gate.setdefault((trial.density, trial.threshold), []).append(trial)
    found = []
    for (density, threshold), trials in by_gate.items():
        rates = [trial.known if basis == "labels" else trial.truth for trial in trials]
        there = [each for each in rates if each is not None and each.inside]
        if there:
            found.append((_pooled if basis == "labels" else _mean)(density, threshold, there))
    return found


def _pooled(density: str, threshold: str, rates: Sequence[Rates]) -> Score:
    """All sites' labelled images together, since those of one site are few."""
    outliers, inside = sum(r.outliers for r in rates), sum(r.inside for r in rates)
    recall = _interval(sum(r.caught for r in rates), outliers) if outliers else None
    loss = _interval(sum(r.lost for r in rates), inside)
    return Score(density, threshold, recall, loss, _mean_auroc(rates))


def _mean(density: str, threshold: str, rates: Sequence[Rates]) -> Score:
    """The mean over sites, as in the paper; all candidates are known, so there is no doubt."""
    recalls = [r.caught / r.outliers for r in rates if r.outliers]
    recall = _certain(float(np.mean(recalls))) if recalls else None
    loss = _certain(float(np.mean([r.lost / r.inside for r in rates])))
    return Score(density, threshold, recall, loss, _mean_auroc(rates))


def _mean_auroc(rates: Sequence[Rates]) -> float | None:
    there = [r.auroc for r in rates if r.auroc is not None]
    return float(np.mean(there)) if there else None


def _certain(value: float) -> Share:
    return Share(value, value, value)


def _interval(k: int, n: int) -> Share:
    """k of n, with the bounds of Clopper and Pearson."""
    tail = (1 - CONFIDENCE) / 2
    low = float(beta.ppf(tail, k, n - k + 1)) if k else 0.0
    high = float(beta.ppf(1 - tail, k + 1, n - k)) if k < n else 1.0
    return Share(k / n, low, high)
