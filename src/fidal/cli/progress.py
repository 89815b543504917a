"""Progress: bars on a terminal, plain lines elsewhere, nothing under --json."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    Progress,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)

from fidal.experiment.config import Experiment
from fidal.experiment.run import Told
from fidal.federation.coordinator import Phase


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
def listening(console: Console, experiment: Experiment, quiet: bool) -> Iterator[Told]:
    """What a run tells its progress to."""
    if quiet:
        yield lambda phase, round, step, steps: None
    elif console.is_terminal:
        with _bars(console) as bars:
            yield _on_bar(bars, experiment)
    else:
        yield _in_lines(console, experiment)


def _bars(console: Console) -> Progress:
    return Progress(
        TextColumn("{task.description:<28}"),
        BarColumn(bar_width=None),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TimeRemainingColumn(),
        console=console,
    )


def _on_bar(bars: Progress, experiment: Experiment) -> Told:
    """The bar's unit is a communication round."""
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
