"""The gate = a density that scores the candidates x a threshold that cuts the scores."""

from dataclasses import dataclass
from typing import Annotated, ClassVar

import torch
from pydantic import BeforeValidator, Field, SerializeAsAny
from torch import Tensor

from fidal.gates.crossfit import FEWEST, cross_fit
from fidal.gates.densities import DENSITIES
from fidal.gates.densities.base import Density, Score
from fidal.gates.densities.diagonal import DiagonalGaussian
from fidal.gates.diagnosis import diagnose
from fidal.gates.thresholds import THRESHOLDS
from fidal.gates.thresholds.base import Threshold
from fidal.gates.thresholds.otsu import Otsu
from fidal.neighbours.similarity import unit
from fidal.parts import Part, by_name
from fidal.types import GateDiagnosis

BLOCK = 1024
"""Candidates that are float64 at any one time: 200,000 x 512 need no second copy."""

ANCHORS = 512
"""Candidates, evenly spread over the ranks, by which the folds' scores are put on one scale."""

ALIKE = 1e-9
"""Scores that differ by less than this share of their size differ by rounding."""

AnyDensity = Annotated[SerializeAsAny[Density], BeforeValidator(by_name("density", DENSITIES))]
AnyThreshold = Annotated[
    SerializeAsAny[Threshold], BeforeValidator(by_name("threshold", THRESHOLDS))
]


@dataclass(frozen=True, eq=False)
class GateDecision:
    """What a gate says about n candidates."""

    keep: Tensor
    """S_k: the survivors, n, bool; never empty."""
    weight: Tensor
    """G(x) in [0, 1], n; all 1 where the gate is off."""
    diagnosis: GateDiagnosis


@dataclass(frozen=True, eq=False)
class Signal:
    """What a threshold cuts: scores on one scale, where the candidates' lie in [0, 1]."""

    G: Tensor
    """Of the candidates, n."""
    null: Tensor | None
    """Cross-fitted, of the labelled ID images that were drawn at random; None if too few."""
    foreign: Tensor
    """Cross-fitted, of the labelled outliers; empty if there are none to speak of."""
    dtype: torch.dtype
    """Of the embeddings."""


class Gate(Part):
    """G(x) = min-max of the density's score over the candidates; refuse G(x) < cut (Sec. 3.4).

    Off, with G = 1 and nobody refused, where there is nothing to go by: fewer than two labelled
    ID images, all of them alike, or all candidates alike. The diagnosis says so.
    """

    name: ClassVar[str] = "gate"
    density: AnyDensity = Field(
        default=DiagonalGaussian(), description="how an embedding is compared with the labelled ID"
    )
    threshold: AnyThreshold = Field(default=Otsu(), description="where G is cut")
    normalise: bool = Field(
        default=True, description="scale embeddings to length one (the paper does not say)"
    )
    tail: float | None = Field(
        default=6.0,
        gt=0,
        description="spreads of the labelled ID below their median from which on all candidates "
        "are equally foreign; none: min-max over the whole tail, as printed",
    )

    def decide(
        self,
        candidates: Tensor,
        labelled: Tensor,
        labels: Tensor,
        outliers: Tensor,
        random_draw: Tensor | None = None,
    ) -> GateDecision:
        """In: g of U, n x e; of L_ID, l x e, with classes, l; of L_OOD, m x e.

        `random_draw`, l, bool, marks the labelled ID images that were drawn at random from the
        pool (the warm-up). What a gate has let through is no sample of the pool's ID images, so
        only the random ones calibrate known-null and the diagnosis; None = all were.
        """
        signal = self.signal(candidates, labelled, labels, outliers, random_draw)
        return self._off(candidates, signal) if isinstance(signal, str) else self.judge(signal)

    def signal(
        self,
        candidates: Tensor,
        labelled: Tensor,
        labels: Tensor,
        outliers: Tensor,
        random_draw: Tensor | None = None,
    ) -> Signal | str:
        """G before the cut, which depends on the density alone; or why there is none."""
        reason = _nothing_to_go_by(labelled)
        if reason:
            return reason
        known, foreign = self._prepare(labelled), self._prepare(outliers)
        raw = self._score(self.density.fit(known, labels, foreign), candidates)
        null, foreign_scores = None, known.new_empty(0)
        drawn = torch.ones_like(labels, dtype=torch.bool) if random_draw is None else random_draw
        if int(drawn.sum()) >= FEWEST:
            rows = _evenly_ranked(raw)
            anchors = self._prepare(candidates[rows])
            null, foreign_scores = cross_fit(
                self.density, known, labels, foreign, anchors, raw[rows]
            )
            null = null[drawn]
        raw = self._clip(raw, null)
        low, high = raw.aminmax()
        if not bool(torch.isfinite(high - low)):
            wrong = int((~torch.isfinite(raw)).sum())
            raise ValueError(
                f"density '{self.density.name}' gives NaN or infinity for {wrong} of {len(raw)} "
                "candidates; it must score any finite embedding"
            )
        if high - low <= ALIKE * torch.maximum(low.abs(), high.abs()):
            return "off: all candidates score alike"
        null = None if null is None else (null - low) / (high - low)
        foreign_scores = (foreign_scores - low) / (high - low)
        return Signal((raw - low) / (high - low), null, foreign_scores, candidates.dtype)

    def judge(self, signal: Signal) -> GateDecision:
        """The cut and what comes of it."""
        G, null = signal.G, signal.null
        cut = self.threshold.cut(G, null)
        # The best candidate always survives: min over S_k in Eq. 12 must exist.
        cut = 0.0 if cut is None else min(cut, 1.0)
        diagnosis = diagnose(self.density.name, self.threshold, G, cut, null, signal.foreign)
        return GateDecision(G >= cut, G.to(signal.dtype), diagnosis)

    def _prepare(self, x: Tensor) -> Tensor:
        return unit(x.double()) if self.normalise else x.double()

    def _score(self, score: Score, candidates: Tensor) -> Tensor:
        return torch.cat([score(self._prepare(block)) for block in torch.split(candidates, BLOCK)])

    def _clip(self, raw: Tensor, null: Tensor | None) -> Tensor:
        """Shorten the tail, or a few extreme outliers leave all others one end of the min-max.

        Otsu then catches 78 % of the outliers of phantom where it caught 10 %, and on fedham,
        whose tail is short, what it caught before (93 %).
        """
        if self.tail is None or null is None:
            return raw
        median = null.median()
        lowest = median - self.tail * 1.4826 * (null - median).abs().median()
        # A pool of outliers alone lies below it as a whole, and must still have an order.
        return raw.clamp(min=lowest) if lowest < torch.minimum(median, raw.max()) else raw

    def _off(self, candidates: Tensor, reason: str) -> GateDecision:
        everyone = candidates.new_ones(len(candidates))
        diagnosis = GateDiagnosis(
            density=self.density.name,
            threshold=self.threshold.name,
            candidates=len(candidates),
            rejected=0.0,
            cut=0.0,
            separation=0.0,
            flags=(reason,),
        )
        return GateDecision(everyone.bool(), everyone, diagnosis)


def _evenly_ranked(raw: Tensor) -> Tensor:
    """Rows of at most ANCHORS candidates from the lowest to the highest score."""
    ranks = torch.linspace(0, len(raw) - 1, min(ANCHORS, len(raw)), device=raw.device)
    return raw.argsort()[ranks.long()]


def _nothing_to_go_by(labelled: Tensor) -> str | None:
    if len(labelled) < 2:
        return "off: fewer than two labelled ID images"
    if bool((labelled == labelled[0]).all()):
        return "off: all labelled ID images are alike"
    return None
