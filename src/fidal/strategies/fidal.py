"""FIDAL: section 3 of the paper, Eq. 1-12, top to bottom.

    U        calibrated global-local evidential uncertainty         Eq. 1-3
    S_ID     similarity to the labelled ID images                   Eq. 4
    S_OOD    similarity to the labelled outliers                    Eq. 5
    C_ID     support count within 20 % of S_ID                      Eq. 6
    R~       U + lambda_div w (1 - S_ID) - lambda_ood S_OOD         Eq. 7-8
    G        coverage: density of g(x) under the labelled ID        Eq. 9-10
    gate     G below its threshold is refused                       Eq. 11
    R        (R~ - min R~ + eps) G among survivors, top B           Eq. 12

Where we read a formula otherwise than it is printed, the printed reading is a named choice, and
the preset `fidal-paper` makes all of these choices.
"""

from typing import ClassVar, Final, Literal

import numpy as np
import torch
from pydantic import Field
from torch import Tensor

from fidal.gates import Gate, GateDecision
from fidal.gates.densities.likelihood_ratio import LikelihoodRatio
from fidal.gates.thresholds.guarded_otsu import GuardedOtsu
from fidal.neighbours.greedy import one_by_one
from fidal.neighbours.similarity import class_similarity, max_similarity, unit
from fidal.neighbours.support import support_count
from fidal.strategies.base import Pick, Strategy, random_rows, top
from fidal.types import Diagnosis, Pool
from fidal.uncertainty import Activation, Epistemic, calibrated, rarity

Support = Literal["standardized", "scaled", "literal", "off"]
Batch = Literal["top", "greedy"]

NEARNESS: Final = 0.8
"""tau_ID = 0.8 S_ID: neighbours are those within 20 % of the nearest labelled image."""

EPSILON: Final = 1e-8
"""Eq. 12; it only keeps the weakest survivor above zero."""


class Fidal(Strategy):
    """The recommended reading. In: everything in the pool. Out: the B largest R of Eq. 12."""

    name: ClassVar[str] = "fidal"

    gate: Gate | None = Field(
        default=Gate(density=LikelihoodRatio(), threshold=GuardedOtsu()),
        description="density x threshold, or none",
    )
    coverage_weight: bool = Field(
        default=True, description="multiply the survivors' score by G (Eq. 12), or only refuse"
    )
    lambda_div: float = Field(default=5.0, ge=0, description="weight of diversity; 0 is none")
    lambda_ood: float = Field(default=0.5, ge=0, description="weight of the penalty; 0 is none")
    lambda_rare: float = Field(
        default=0.0, ge=0, description="weight of the answer's expected rarity; beyond the paper"
    )
    support: Support = Field(
        default="standardized", description="how C_ID becomes the weight w of Eq. 8"
    )
    epistemic: Epistemic = Field(
        default="entropy", description="Dirichlet entropy scaled to [0, 1], or Eq. 2 as printed"
    )
    activation: Activation = Field(default="relu", description="evidence from logits")
    batch: Batch = Field(
        default="top",
        description="the B largest R, or one by one, each pick counting as labelled in S_ID",
    )
    neighbour_sample: int | None = Field(
        default=None, ge=1, description="count C_ID among so many random candidates; all if none"
    )

    def required(self) -> tuple[str, ...]:
        """Only a gate looks at g(x)."""
        return () if self.gate is None else ("coverage",)

    def pick(self, pool: Pool, budget: int, rng: np.random.Generator) -> Pick:
        """Survivors by descending R; if they are too few, the refused by descending coverage."""
        if len(pool.labelled.labels) == 0:
            rows = random_rows(len(pool.ids), budget, rng, like=pool.features)
            return Pick(rows, diagnosis=Diagnosis(notes=("random: no labelled ID image yet",)))
        terms = self._terms(pool, rng)
        ranking = (  # Eq. 8
            terms["uncertainty"]
            + self.lambda_div * terms["diversity"]
            - self.lambda_ood * terms["similarity_ood"]
            + self.lambda_rare * terms["rarity"]
        )
        decision = self._decide(pool)
        keep = decision.keep if decision else torch.ones_like(ranking, dtype=torch.bool)
        coverage = decision.weight.to(ranking) if decision else torch.ones_like(ranking)
        weight = coverage if self.coverage_weight else torch.ones_like(ranking)
        fused = fuse(ranking, keep, weight)
        if self.batch == "greedy":
            slope = self.lambda_div * terms["support_weight"] * weight
            near, features = terms["similarity_id"], unit(pool.features)
            survivors = one_by_one(fused, slope, near, features, budget)
        else:
            survivors = top(fused, int(keep.sum()))
        refused = top(coverage.masked_fill(keep, -torch.inf), int((~keep).sum()))
        return Pick(
            rows=torch.cat([survivors, refused])[:budget],
            scores={
                **terms,
                "ranking": ranking,
                "coverage": coverage,
                "kept": keep,
                "score": fused,
            },
            diagnosis=Diagnosis(
                gate=decision.diagnosis if decision else None,
                filled=max(0, budget - len(survivors)),
                terms={f"std_{name}": spread(x) for name, x in terms.items()},
            ),
        )

    def _terms(self, pool: Pool, rng: np.random.Generator) -> dict[str, Tensor]:
        """U, w(1 - S_ID), S_OOD, and what they are made of; each |U|."""
        candidates, labelled = unit(pool.features), unit(pool.labelled.features)
        labels, classes = pool.labelled.labels, pool.global_logits.shape[1]
        by_class = class_similarity(candidates, labelled, labels, classes)
        s_id = by_class.amax(1)
        sample = self._sample(len(pool.ids), rng, like=candidates)
        terms = {
            "uncertainty": calibrated(
                pool.global_logits, pool.local_logits, self.activation, self.epistemic
            ),
            "rarity": rarity(by_class, labels),
            "similarity_id": s_id,
            "similarity_ood": max_similarity(candidates, unit(pool.outliers.features)),
        }
        if self.support == "off":
            return {**terms, "support_weight": torch.ones_like(s_id), "diversity": 1 - s_id}
        count = support_count(candidates, labelled, NEARNESS * s_id, sample)
        population = len(pool.ids) + len(pool.labelled.labels)
        weight = support_weight(count.to(s_id), self.support, population)
        return {
            **terms,
            "support_count": count,
            "support_weight": weight,
            "diversity": weight * (1 - s_id),
        }

    def _sample(self, n: int, rng: np.random.Generator, like: Tensor) -> Tensor | None:
        if self.neighbour_sample is None or self.neighbour_sample >= n:
            return None
        return random_rows(n, self.neighbour_sample, rng, like).sort().values

    def _decide(self, pool: Pool) -> GateDecision | None:
        if self.gate is None or pool.coverage is None:
            return None
        known, foreign = pool.labelled, pool.outliers
        assert known.coverage is not None and foreign.coverage is not None
        return self.gate.decide(
            pool.coverage, known.coverage, known.labels, foreign.coverage, known.random_draw
        )


def spread(x: Tensor) -> float:
    """Standard deviation over the candidates."""
    return float(x.double().std(correction=0))


def support_weight(count: Tensor, support: Support, population: int) -> Tensor:
    """w of Eq. 7-8, a softmax over the negated support counts. In and out: |U|.

    `literal` is the printed softmax(-C): counts of hundreds put all mass on a handful of
    candidates. `scaled` and `standardized` are |U| softmax(-C/N) and |U| softmax(-(C - mean)/std),
    whose mean is 1: the same direction, rare regions up, at a scale that lambda_div can weigh.
    """
    if support == "literal":
        return torch.softmax(-count, dim=0)
    if support == "scaled":
        return len(count) * torch.softmax(-count / population, dim=0)
    spread = count.std(correction=0)
    deviation = (count - count.mean()) / torch.where(spread > 0, spread, 1)
    return len(count) * torch.softmax(-deviation, dim=0)


def fuse(ranking: Tensor, keep: Tensor, weight: Tensor) -> Tensor:
    """Eq. 12: (R~ - min over survivors + eps) G for survivors, minus infinity for the refused."""
    if not bool(keep.any()):
        return torch.full_like(ranking, -torch.inf)
    fused = (ranking - ranking[keep].min() + EPSILON) * weight
    return fused.masked_fill(~keep, -torch.inf)
