import math

import pytest
import torch
from torch import nn, optim

from fidal.learning.objectives import OBJECTIVES
from fidal.learning.objectives.base import Optimiser
from fidal.learning.optimisers import lower, make_optimiser, reset

KINDS = (
    Optimiser(kind="adamw", lr=0.1, weight_decay=0.05),
    Optimiser(kind="sgd", lr=0.1, momentum=0.8, weight_decay=0.05),
    Optimiser(kind="sgd", lr=0.1, momentum=0.0, weight_decay=0.0),
)
kinds = pytest.mark.parametrize("settings", KINDS, ids=str)


def parameter(*values: float) -> nn.Parameter:
    return nn.Parameter(torch.tensor(values, dtype=torch.float64))


def step(optimiser: optim.Optimizer, p: nn.Parameter, *gradient: float) -> list[float]:
    p.grad = torch.tensor(gradient, dtype=p.dtype)
    optimiser.step()
    found: list[float] = p.detach().tolist()
    return found


def rate(optimiser: optim.Optimizer) -> float:
    return float(optimiser.param_groups[0]["lr"])


def test_two_steps_of_sgd_by_hand() -> None:
    p = parameter(1.0)
    optimiser = make_optimiser(Optimiser(kind="sgd", lr=0.1, momentum=0.8, weight_decay=0.05), [p])
    # Velocity 2 + 0.05 * 1 = 2.05; 1 - 0.1 * 2.05 = 0.795.
    assert step(optimiser, p, 2.0) == pytest.approx([0.795])
    # Velocity 0.8 * 2.05 - 1 + 0.05 * 0.795 = 0.67975; 0.795 - 0.067975 = 0.727025.
    assert step(optimiser, p, -1.0) == pytest.approx([0.727025])


def test_two_steps_of_adamw_by_hand() -> None:
    p = parameter(1.0)
    optimiser = make_optimiser(Optimiser(kind="adamw", lr=0.1, weight_decay=0.05), [p])
    # Decay first, apart from the gradient: 1 - 0.1 * 0.05 = 0.995. The first step is lr * sign.
    assert step(optimiser, p, 2.0) == pytest.approx([0.895])
    # m = 0.9 * 0.2 - 0.1 = 0.08, over 1 - 0.81; v = 0.999 * 0.004 + 0.001 = 0.004996, over
    # 1 - 0.998001. 0.895 * 0.995 - 0.1 * 0.421053 / sqrt(2.499250).
    moved = 0.1 * (0.08 / 0.19) / math.sqrt(0.004996 / 0.001999)
    assert step(optimiser, p, -1.0) == pytest.approx([0.895 * 0.995 - moved])


def test_what_is_not_said_of_an_optimiser() -> None:
    settings = Optimiser(lr=0.3)
    assert (settings.kind, settings.weight_decay, settings.step) == ("adamw", 5e-4, None)


def test_the_rate_is_halved_every_three_rounds_by_hand() -> None:
    settings = Optimiser(lr=0.8, step=3, gamma=0.5)
    optimiser = make_optimiser(settings, [parameter(1.0)])
    found = []
    for round in range(10):
        lower(optimiser, settings, round)
        found.append(rate(optimiser))
    assert found == pytest.approx([0.8] * 3 + [0.4] * 3 + [0.2] * 3 + [0.1])


def test_the_rate_is_a_function_of_the_round_and_begins_anew() -> None:
    settings = Optimiser(lr=0.8, step=2, gamma=0.1)
    optimiser = make_optimiser(settings, [parameter(1.0)])
    for round, want in ((7, 0.0008), (0, 0.8), (2, 0.08), (2, 0.08), (1, 0.8)):
        lower(optimiser, settings, round)
        assert rate(optimiser) == pytest.approx(want)


def test_without_a_schedule_the_rate_stays() -> None:
    settings = Optimiser(lr=0.3)
    optimiser = make_optimiser(settings, [parameter(1.0)])
    for round in (0, 1, 500):
        lower(optimiser, settings, round)
        assert rate(optimiser) == 0.3


def test_eoals_schedule_is_that_of_its_supplement() -> None:
    settings = OBJECTIVES["eoal"]().optimiser
    assert settings is not None
    optimiser = make_optimiser(settings, [parameter(1.0)])
    found = []
    for round in (0, 59, 60, 119, 120, 179):
        lower(optimiser, settings, round)
        found.append(rate(optimiser))
    assert found == pytest.approx([0.01, 0.01, 0.005, 0.005, 0.0025, 0.0025])


def test_every_group_is_lowered_and_a_rate_on_the_device_stays_the_same_tensor() -> None:
    """A captured step reads the rate where it lay when it was captured."""
    settings = Optimiser(lr=0.8, step=1, gamma=0.5)
    groups = [{"params": [parameter(x)], "lr": torch.tensor(0.8)} for x in (1.0, 2.0)]
    optimiser = optim.AdamW(groups)
    where = [group["lr"] for group in optimiser.param_groups]
    lower(optimiser, settings, 2)
    assert [float(group["lr"]) for group in optimiser.param_groups] == pytest.approx([0.2, 0.2])
    assert all(a is group["lr"] for a, group in zip(where, optimiser.param_groups, strict=True))


def test_a_lower_rate_takes_a_shorter_step() -> None:
    settings = Optimiser(kind="sgd", lr=0.1, momentum=0.0, weight_decay=0.0, step=1, gamma=0.5)
    p = parameter(1.0)
    optimiser = make_optimiser(settings, [p])
    lower(optimiser, settings, 1)
    assert step(optimiser, p, 2.0) == pytest.approx([0.9])


def descent(p: nn.Parameter, optimiser: optim.Optimizer, seed: int) -> list[list[float]]:
    """Five steps along random gradients."""
    generator = torch.Generator().manual_seed(seed)
    draws = torch.randn(5, len(p), generator=generator, dtype=p.dtype)
    return [step(optimiser, p, *row) for row in draws.tolist()]


@kinds
def test_a_reset_optimiser_steps_like_a_fresh_one(settings: Optimiser) -> None:
    used, fresh = parameter(1.0, -2.0, 0.5), parameter(1.0, -2.0, 0.5)
    optimiser = make_optimiser(settings, [used])
    descent(used, optimiser, seed=1)
    used.data.copy_(fresh.data)
    unreset = [x.clone() for state in optimiser.state.values() for x in state.values()]
    reset(optimiser)
    want = descent(fresh, make_optimiser(settings, [fresh]), seed=2)
    assert descent(used, optimiser, seed=2) == want  # bit for bit
    if settings.momentum or settings.kind == "adamw":
        assert any(bool(x.any()) for x in unreset)  # there was something to forget


@kinds
def test_resetting_is_in_place_and_leaves_parameters_and_rate_alone(settings: Optimiser) -> None:
    p = parameter(1.0, -2.0)
    optimiser = make_optimiser(settings, [p])
    lower(optimiser, settings, 0)
    descent(p, optimiser, seed=1)
    before, where = (
        p.detach().clone(),
        [x for state in optimiser.state.values() for x in state.values() if x is not None],
    )
    reset(optimiser)
    after = [x for state in optimiser.state.values() for x in state.values() if x is not None]
    assert len(where) == len(after) and all(a is b for a, b in zip(where, after, strict=True))
    assert not any(bool(x.any()) for x in after)
    assert torch.equal(p, before) and rate(optimiser) == 0.1


def test_a_fresh_optimiser_has_nothing_to_forget() -> None:
    p = parameter(1.0)
    optimiser = make_optimiser(KINDS[0], [p])
    reset(optimiser)
    assert step(optimiser, p, 2.0) == pytest.approx([0.895])


@pytest.mark.gpu
@kinds
def test_on_a_gpu_the_rate_lies_there_and_the_steps_are_the_same(settings: Optimiser) -> None:
    here, there = nn.Parameter(torch.ones(3)), nn.Parameter(torch.ones(3, device="cuda"))
    ours, theirs = make_optimiser(settings, [here]), make_optimiser(settings, [there])
    assert theirs.param_groups[0]["lr"].is_cuda
    for _ in range(4):
        here.grad, there.grad = torch.ones(3), torch.ones(3, device="cuda")
        ours.step()
        theirs.step()
    assert there.tolist() == pytest.approx(here.tolist(), rel=1e-5)
