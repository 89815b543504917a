"""Progress of runs: bars on a terminal, plain lines elsewhere, nothing under --json."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Protocol

from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    TaskID,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)

from fidal.experiment.config import Experiment
from fidal.federation.state import Phase, Told


class Listener(Protocol):
    """Makes what a run tells its progress to."""

    def __call__(self, experiment: Experiment) -> Told:
        """One per run, when the run begins."""


@contextmanager
def listening(console: Console, runs: int, quiet: bool) -> Iterator[Listener]:
    """A listener for so many runs."""
    if quiet:
        yield lambda experiment: lambda phase, round, step, steps: None
    elif console.is_terminal:
        with _bars(console) as bars:
            total = bars.add_task("all runs", total=runs)
            yield lambda experiment: _on_bar(bars, experiment, total)
            bars.update(total, completed=runs)
    else:
        yield lambda experiment: _in_lines(console, experiment)


def _bars(console: Console) -> Progress:
    return Progress(
        TextColumn("{task.description:<28}"),
        BarColumn(bar_width=None),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TimeRemainingColumn(),
        console=console,
    )


def _on_bar(bars: Progress, experiment: Experiment, total: TaskID) -> Told:
    """One bar per run; its unit is a communication round. Runs begin one after the other."""
    begun = len(bars.tasks) - 1
    bars.update(total, completed=begun)
    steps = experiment.training.rounds
    name = f"{experiment.strategy.name} s{experiment.seed}"
    bar = bars.add_task(name, total=(experiment.rounds + 1) * steps)

    def told(phase: Phase, round: int, step: int, steps: int) -> None:
        done = round * steps + step if phase == "train" else None
        if phase == "evaluate":
            done = (round + 1) * experiment.training.rounds
        if done is not None:
            bars.update(bar, completed=done, description=f"{name} round {round}")

    return told


def _in_lines(console: Console, experiment: Experiment) -> Told:
    name = f"{experiment.strategy.name} seed {experiment.seed}"

    def told(phase: Phase, round: int, step: int, steps: int) -> None:
        if phase == "evaluate":
            console.print(f"{name}: round {round} of {experiment.rounds}", highlight=False)

    return told
