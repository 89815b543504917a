"""What a sweep tells as it goes on."""

from dataclasses import dataclass
from typing import Literal

from fidal.experiment.config import Experiment
from fidal.experiment.standing import Failure
from fidal.federation.coordinator import Phase

End = Literal["done", "failed", "elsewhere"]
"""`elsewhere`: another process is at work on the run."""


@dataclass(frozen=True)
class Began:
    """A process has started on the run."""

    experiment: Experiment
    round: int
    """Where it goes on; 0 is the beginning."""


@dataclass(frozen=True)
class Went:
    """The run has come to `step` of `steps` of a phase of a round."""

    experiment: Experiment
    phase: Phase
    round: int
    step: int
    steps: int


@dataclass(frozen=True)
class Ended:
    """How the run ended, now or in an earlier call of the sweep."""

    experiment: Experiment
    end: End
    round: int
    """The AL round that would come next."""
    before: bool = False
    """In an earlier call, or in the hands of another process."""
    failure: Failure | None = None


Event = Began | Went | Ended
