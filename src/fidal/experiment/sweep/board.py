"""The state of a sweep as a whole: who is done, running, failed, and how long it will take."""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from fidal.experiment.config import Experiment
from fidal.experiment.standing import Failure
from fidal.experiment.sweep.events import Began, Ended, Event, Went

Status = Literal["waiting", "running", "done", "failed", "elsewhere"]


@dataclass
class Entry:
    """One run."""

    experiment: Experiment
    status: Status = "waiting"
    round: int = 0
    phase: str = ""
    done: float = 0.0
    """Work done so far, in the unit of `work`."""
    began: float = 0.0
    ended: float = 0.0
    before: bool = False
    """It ended in an earlier call, or is another process's."""
    failure: Failure | None = None


class Board:
    """Hears all events. `clock` tells seconds."""

    def __init__(self, experiments: Sequence[Experiment], clock: Callable[[], float]) -> None:
        self.entries = {each.run_name: Entry(each) for each in experiments}
        self._clock = clock
        self._start: float | None = None
        self._worked = 0.0

    def hear(self, event: Event) -> Entry:
        """The entry that has changed."""
        entry, now = self.entries[event.experiment.run_name], self._clock()
        match event:
            case Began():
                entry.status, entry.round, entry.began = "running", event.round, now
                entry.done = work(event.experiment, event.round)
                self._start = now if self._start is None else self._start
            case Went():
                share = event.step / event.steps if event.phase == "train" else 0.0
                if event.phase == "evaluate":
                    share = 1.0
                entry.round, entry.phase = event.round, event.phase
                self._advance(entry, work(event.experiment, event.round + share))
            case Ended():
                if entry.status == "running":
                    whole = work(event.experiment, event.experiment.rounds + 1)
                    self._advance(entry, whole if event.end == "done" else entry.done)
                entry.status, entry.round, entry.ended = event.end, event.round, now
                entry.before, entry.failure = event.before, event.failure
        return entry

    def now(self) -> float:
        """The clock's time."""
        return self._clock()

    def counts(self) -> Mapping[Status, int]:
        """How many runs of each status."""
        return Counter(entry.status for entry in self.entries.values())

    def elapsed(self) -> float:
        """Seconds since the first process of this call began."""
        return 0.0 if self._start is None else self._clock() - self._start

    def remaining(self) -> float | None:
        """Seconds until all is done, if it goes on at the pace of this call; None before there is
        one. The strategies' own costs are not known before they have run.
        """
        to_do = sum(
            work(entry.experiment, entry.experiment.rounds + 1) - entry.done
            for entry in self.entries.values()
            if entry.status in ("waiting", "running")
        )
        if to_do == 0:
            return 0.0
        return self.elapsed() * to_do / self._worked if self._worked else None

    def _advance(self, entry: Entry, done: float) -> None:
        self._worked += done - entry.done
        entry.done = done


def work(experiment: Experiment, rounds: float) -> float:
    """Of the first `rounds` AL rounds, the warm-up's included: the images that training looks at.

    Round r trains T x E times on what r + 1 queries have had labelled; half a round is half of it.
    """
    budget = experiment.budget
    labels = sum(budget.values()) / len(budget) if isinstance(budget, dict) else budget
    whole = int(rounds)
    queries = whole * (whole + 1) / 2 + (rounds - whole) * (whole + 1)
    return experiment.training.rounds * experiment.training.epochs * labels * queries
