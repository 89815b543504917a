"""Who answers what a site asks. A benchmark's labels stand behind `GroundTruth`."""

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from fidal.types import OUTLIER, UNLABELLED


class Oracle(Protocol):
    """In: samples of a worklist. Out: a class or OUTLIER for those that can be answered now.

    People answer later, at the desk, into the ledger: their oracle answers nothing.
    """

    def answers(self, samples: Sequence[str]) -> dict[str, int]:
        """At most one entry per sample, in the order of `samples`."""


@dataclass(frozen=True)
class People:
    """They answer at the desk, in their own time."""

    def answers(self, samples: Sequence[str]) -> dict[str, int]:
        """None, now."""
        return {}


@dataclass(frozen=True, eq=False)
class GroundTruth:
    """Answers with the known labels, and wrongly in a share of the cases.

    A wrong answer takes an ID image for an outlier, or an outlier for an image of any of the
    classes. Which ones are wrong depends on seed and sample alone, neither on the order of the
    questions nor on the run; a larger `error_rate` adds wrong answers and keeps the old ones.
    """

    labels: Mapping[str, int] = field(repr=False)
    classes: int
    error_rate: float = 0.0
    seed: int = 0

    def __post_init__(self) -> None:
        if not 0 <= self.error_rate <= 1:
            raise ValueError(f"error_rate is {self.error_rate}; a share from 0 to 1 is needed")

    def answers(self, samples: Sequence[str]) -> dict[str, int]:
        """All of them, at once."""
        return {sample: self._answer(sample) for sample in samples}

    def _answer(self, sample: str) -> int:
        label = self.labels.get(sample, UNLABELLED)
        if label == UNLABELLED:
            raise ValueError(f"sample {sample!r} has no known label; only a person can answer it")
        chance, which = _draws(self.seed, sample)
        if chance >= self.error_rate:
            return int(label)
        return int(which * self.classes) if label == OUTLIER else OUTLIER


def _draws(seed: int, sample: str) -> tuple[float, float]:
    """Two independent uniform numbers in [0, 1) that belong to this seed and sample."""
    digest = hashlib.sha256(f"{seed}:{sample}".encode()).digest()
    first, second = digest[:6], digest[6:12]
    return int.from_bytes(first, "big") / 2**48, int.from_bytes(second, "big") / 2**48
