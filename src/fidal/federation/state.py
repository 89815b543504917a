"""What a coordinator was told to do, what it must remember, and what a round ends with."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Final, Literal

from fidal.federation.messages import EvaluateReply, QueryReply, Weights

Phase = Literal["query", "answer", "train", "evaluate"]

Told = Callable[[Phase, int, int, int], None]
"""Hears phase, round, and how much of the phase is done: steps of steps, answers of questions."""


@dataclass(frozen=True)
class Patience:
    """For whom the coordinator waits, and how long. Between sites of one process: for all."""

    request: float | None = None
    """Seconds that a site may take for one request before the round goes on without it."""
    answers: float | None = None
    """Seconds that people have for a worklist; what they have answered by then counts."""
    poll: float = 1.0
    """Seconds between two questions how far they are."""
    quorum: int | None = None
    """The fewest sites that a phase goes on with; all of them if None."""


FOR_ALL: Final = Patience()


@dataclass(frozen=True)
class Plan:
    """What the coordinator was told to do."""

    federation: str
    rounds: int
    """R: query rounds after the warm-up, which is round 0."""
    budgets: Mapping[str, int]
    """B_k: images per site and round."""
    steps: int
    """T: communication rounds between two queries."""
    reinitialise: bool
    patience: Patience = FOR_ALL


@dataclass(frozen=True, eq=False)
class State:
    """All that a coordinator must remember between two phases."""

    round: int = 0
    phase: Phase = "query"
    """What comes next."""
    weights: Weights | None = None
    """The global model of the last finished training."""
    queried: Mapping[str, QueryReply] = field(default_factory=dict)
    """Replies to this round's query, with the answers as far as they are known. A site that is
    missing keeps the totals it had."""
    missing: Mapping[str, str] = field(default_factory=dict)
    """Sites that this round goes on without, and why."""
    trained: tuple[str, ...] = ()
    """Sites that took part in the last finished training."""
    until: float | None = None
    """When people's time for this round's worklists is over, in seconds since 1970."""
    done: bool = False


@dataclass(frozen=True, eq=False)
class RoundResult:
    """What one round ended with, per site."""

    round: int
    queried: Mapping[str, QueryReply]
    evaluated: Mapping[str, EvaluateReply]
    weights: Weights
    missing: Mapping[str, str] = field(default_factory=dict)
    privacy: Mapping[str, float] | None = None
    """What was spent so far, if training is differentially private."""
