import pytest

from fidal.experiment.config import Experiment, make_experiment
from fidal.experiment.standing import Failure
from fidal.experiment.sweep.board import Board, work
from fidal.experiment.sweep.events import Began, Ended, Went


def experiment(seed: int = 0, **fields: object) -> Experiment:
    training = {"rounds": 4, "epochs": 1}
    table = {"name": "x", "benchmark": "phantom", "strategy": "random", "training": training}
    return make_experiment({**table, "rounds": 2, "budget": 10, "seed": seed, **fields})


class Clock:
    now = 100.0

    def __call__(self) -> float:
        return self.now


@pytest.mark.parametrize(("rounds", "images"), [(0, 0), (1, 10), (2, 30), (3, 60), (2.5, 45)])
def test_work_is_the_images_that_training_looks_at(rounds: float, images: float) -> None:
    """Round r trains T x E = 4 times on r + 1 queries of 10 images."""
    assert work(experiment(), rounds) == 4 * images
    assert work(experiment(budget={"a": 5, "b": 15}), rounds) == 4 * images


def test_the_remaining_time_is_the_rest_of_the_work_at_the_pace_so_far() -> None:
    clock = Clock()
    first, second = experiment(0), experiment(1)
    board = Board([first, second], clock)
    assert board.remaining() is None
    board.hear(Began(first, 0))
    assert board.remaining() is None
    clock.now += 30  # half of the first round: 5 of 2 x 60 images in 30 s
    board.hear(Went(first, "train", 0, 2, 4))
    assert board.remaining() == pytest.approx(30 * 115 / 5)
    board.hear(Ended(first, "done", 3))
    assert board.remaining() == pytest.approx(30)
    board.hear(Ended(second, "done", 3, before=True))
    assert board.remaining() == 0


def test_what_was_done_before_counts_neither_as_pace_nor_as_work() -> None:
    clock = Clock()
    first, second, third = (experiment(seed) for seed in range(3))
    board = Board([first, second, third], clock)
    board.hear(Ended(first, "done", 3, before=True))
    board.hear(Began(second, 2))  # goes on: 30 of its 60 images were looked at before
    clock.now += 10
    board.hear(Went(second, "evaluate", 2, 0, 1))
    assert board.remaining() == pytest.approx(10 * 60 / 30)
    board.hear(Ended(third, "failed", 1, failure=Failure("bug", "oh")))
    board.hear(Ended(second, "done", 3))
    assert board.counts() == {"done": 2, "failed": 1} and board.remaining() == 0


def test_a_failed_run_is_no_longer_waited_for() -> None:
    first, second = experiment(0), experiment(1)
    board = Board([first, second], Clock())
    board.hear(Began(first, 0))
    entry = board.hear(Ended(first, "failed", 0, failure=Failure("died", "its process was killed")))
    assert entry.failure and entry.failure.reason == "its process was killed"
    assert board.counts() == {"failed": 1, "waiting": 1}
