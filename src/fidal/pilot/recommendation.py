"""Which gate, and where to look for the two lambdas: the paper's rule of Section 5.2."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from fidal.pilot.scores import CATCHES, LOSES, Basis, Score, scores
from fidal.pilot.trials import SiteTrials
from fidal.strategies.fidal import Fidal

Range = tuple[float, float]

LAMBDA_OOD_SUFFICES: Final[Range] = (0.0, 1.0)
LAMBDA_OOD_ELSE: Final[Range] = (2.0, 5.0)

LAMBDA_DIV: Final[Mapping[str, Range]] = {"fidal-paper": (0.5, 1.0), "fidal": (2.0, 10.0)}
"""The paper's range for its support weights; and for the standardised ones, with which the paper's
lambdas mean something else, where the accuracy on fedham is flat. Neither depends on the gate."""


@dataclass(frozen=True)
class Recommendation:
    """By one basis."""

    basis: Basis
    score: Score
    """Of the recommended gate."""
    lambda_ood: Range
    reason: str

    @property
    def toml(self) -> str:
        """For the configuration; lambda_ood begins at the lower end of its range, or at the
        default if that lies in it."""
        default, (low, high) = Fidal().lambda_ood, self.lambda_ood
        first = default if low <= default <= high else low
        gate = f'{{density = "{self.score.density}", threshold = "{self.score.threshold}"}}'
        return f'[strategy]\nname = "fidal"\ngate = {gate}\nlambda_ood = {first:g}\n'


def recommend(sites: Sequence[SiteTrials], basis: Basis) -> Recommendation | None:
    """The gate of least cost; among equals FIDAL's own, then the first. None where the basis is
    missing: at no site ten labelled ID images, or no truth.
    """
    every = scores(sites, basis)
    if not every:
        return None
    usual = Fidal().gate
    assert usual is not None
    own = (usual.density.name, usual.threshold.name)
    best = min(every, key=lambda s: (round(s.cost, 9), (s.density, s.threshold) != own))
    lambda_ood = LAMBDA_OOD_ELSE if best.suffices is False else LAMBDA_OOD_SUFFICES
    return Recommendation(basis, best, lambda_ood, _reason(best))


def _reason(score: Score) -> str:
    if score.recall is None:
        return (
            "no outlier is known, so nobody can say what a gate catches; lambda_ood has no effect "
            "until one is labelled"
        )
    rule = f"{CATCHES:.0%} caught at {LOSES:.0%} lost or better"
    verdict = f"the gate {'meets' if score.suffices else 'does not meet'} the rule ({rule})"
    if score.certain:
        return verdict
    return (
        f"{verdict}, but so few labelled images can't tell: caught may be "
        f"{score.recall.low:.0%} to {score.recall.high:.0%}, lost {score.id_loss.low:.0%} to "
        f"{score.id_loss.high:.0%}"
    )
