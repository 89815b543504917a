import pytest
import torch
from torch import Tensor

from fidal.learning.objectives.base import Batch, Context
from fidal.learning.running import Inputs, Plain

CONTEXT = Context(torch.ones(2), n_outliers=0, round=0, rounds=1)


def inputs(value: float = 0.0) -> Inputs:
    nobody = torch.zeros(0, dtype=torch.int64)
    return Inputs(torch.tensor(value), Batch(nobody, nobody), None)


def draw(_: Inputs, __: Context) -> Tensor:
    """A step that, like dropout, draws from torch's own generator."""
    return torch.rand(())


def steps(runner: Plain, n: int) -> list[float]:
    found = []
    for _ in range(n):
        with runner.apart():
            found.append(float(runner(inputs(), CONTEXT)))
    return found


def started(seed: int) -> Plain:
    runner = Plain(draw)
    runner.start(seed)
    return runner


def test_a_step_is_done_when_it_returns_and_gives_its_loss() -> None:
    seen: list[tuple[float, Context]] = []

    def step(given: Inputs, context: Context) -> Tensor:
        seen.append((float(given.x), context))
        return given.x * 2

    runner = Plain(step)
    with runner.apart():
        assert float(runner(inputs(3.0), CONTEXT)) == 6
    runner.join()
    assert seen == [(3.0, CONTEXT)]


def test_draws_come_from_the_seed_alone_and_go_on_from_step_to_step() -> None:
    torch.manual_seed(1)
    first = steps(started(7), 4)
    torch.manual_seed(2)
    assert steps(started(7), 4) == first
    assert len(set(first)) == 4
    assert steps(started(8), 4) != first
    want = torch.rand(4, generator=torch.Generator().manual_seed(7)).tolist()
    assert first == pytest.approx(want)


def test_starting_again_begins_anew() -> None:
    runner = started(7)
    first = steps(runner, 3)
    runner.start(7)
    assert steps(runner, 3) == first


def test_sites_that_take_turns_draw_as_each_would_alone() -> None:
    one, other = started(1), started(2)
    turns = [steps(runner, 1)[0] for _ in range(3) for runner in (one, other)]
    assert turns[0::2] == steps(started(1), 3)
    assert turns[1::2] == steps(started(2), 3)


def test_the_global_state_is_put_back_even_after_an_error() -> None:
    torch.manual_seed(5)
    before = torch.get_rng_state()
    runner = started(7)
    first = steps(runner, 1)
    assert torch.equal(torch.get_rng_state(), before)
    with pytest.raises(RuntimeError, match="stop"), runner.apart():
        torch.rand(1)
        raise RuntimeError("stop")
    assert torch.equal(torch.get_rng_state(), before)
    # What was drawn before the error is drawn: the third number of the seed comes next.
    assert steps(runner, 1) == [torch.rand(3, generator=torch.Generator().manual_seed(7))[2]]
    assert first == [torch.rand(1, generator=torch.Generator().manual_seed(7))[0]]
