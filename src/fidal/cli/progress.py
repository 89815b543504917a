"""Progress: bars on a terminal, plain lines elsewhere, nothing under --json."""

from collections.abc import Callable, Iterator
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
from fidal.experiment.run import Told
from fidal.federation.coordinator import Phase


class Listener(Protocol):
    """Makes what a run tells its progress to."""

    def __call__(self, experiment: Experiment) -> Told:
        """One per run, when the run begins."""


@contextmanager
def counting(console: Console, what: str, quiet: bool) -> Iterator[Callable[[int, int], None]]:
    """What is to be told (done, of how many); elsewhere than on a terminal a line per tenth."""
    if quiet:
        yield lambda done, n: None
    elif console.is_terminal:
        with _bars(console) as bars:
            bar = bars.add_task(what, total=None)
            yield lambda done, n: bars.update(bar, completed=done, total=n)
    else:
        said = -1

        def told(done: int, n: int) -> None:
            nonlocal said
            if 10 * done // max(1, n) > said:
                said = 10 * done // max(1, n)
                console.print(f"{done:,} of {n:,} {what}", highlight=False)

        yield told


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
