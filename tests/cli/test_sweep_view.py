import io

from rich.console import Console

from fidal.cli.sweep_view import viewing
from fidal.experiment.config import Experiment, make_experiment
from fidal.experiment.standing import Failure
from fidal.experiment.sweep.board import Board
from fidal.experiment.sweep.events import Began, Ended, Went


def experiment(seed: int) -> Experiment:
    table = {"name": "x", "benchmark": "phantom", "strategy": "random", "rounds": 2, "seed": seed}
    return make_experiment(table)


def seen(runs: int, height: int) -> str:
    """The last picture on a terminal of so many lines: one done, one failed, one running."""
    clock = iter(float(second) for second in range(10_000))
    experiments = [experiment(seed) for seed in range(runs)]
    board = Board(experiments, lambda: next(clock))
    console = Console(file=io.StringIO(), force_terminal=True, width=150, height=height)
    first, second, third, *rest = experiments
    with viewing(console, "grid", board, as_json=False) as view:
        for each in rest:
            view(Ended(each, "done", 3, before=True))
        view(Began(first, 0))
        view(Went(first, "train", 1, 3, 20))
        view(Began(second, 0))
        view(Ended(second, "failed", 0, failure=Failure("refused", "out of\npaper")))
        view(Began(third, 0))
        view(Ended(third, "done", 3))
    written = console.file.getvalue()  # type: ignore[attr-defined]
    return str(written[written.rindex("grid:") :])


def test_a_terminal_shows_every_run_and_the_time_left() -> None:
    head, columns, *lines = seen(3, height=30).splitlines()
    assert "1 done, 1 running, 1 failed" in head and "so far, about " in head
    assert "run" in columns and "round" in columns
    by_seed = {seed: next(line for line in lines if f"-s{seed}-" in line) for seed in range(3)}
    assert "running" in by_seed[0] and "1/2 train" in by_seed[0]
    assert "failed" in by_seed[1] and "out of" in by_seed[1] and "paper" not in by_seed[1]
    assert "done" in by_seed[2] and "2/2" in by_seed[2]


def test_a_small_terminal_shows_what_runs_and_what_failed_first() -> None:
    picture = seen(40, height=8)
    lines = [line for line in picture.splitlines() if "-s" in line]
    assert len(lines) == 4
    assert "running" in lines[0] and "failed" in lines[1] and "done" in lines[2]
    assert "38 done" in picture
