"""An objective of one's own needs a loss and no more."""

import pytest
import torch
from pydantic import ValidationError
from torch import Tensor, nn

from fidal.learning.objectives import OBJECTIVES
from fidal.learning.objectives.base import Batch, Companion, Context, Objective, Optimiser
from fidal.types import Outputs


class Least(Objective):
    name = "least"

    def loss(
        self, outputs: Outputs, batch: Batch, context: Context, companion: Companion | None = None
    ) -> Tensor:
        return outputs.logits.sum()


class Headed(Least):
    """Trains two heads, and shows the strategy one of them."""

    name = "headed"
    outputs = ("shown",)

    def heads(self, width: int, classes: int) -> dict[str, nn.Module]:
        return {"shown": nn.Linear(width, 1), "hidden": nn.Linear(width, 1)}


def test_what_an_objective_does_not_say_it_does_not_have() -> None:
    least = Least()
    assert not least.includes_outliers and least.unlabelled_ratio == 0
    assert least.optimiser is None and least.heads(4, 3) == {} and least.companion(3) is None
    assert least.begin_epoch(torch.zeros(2, 4), 3) == {} and not least.needs_epoch_features


def test_a_strategy_sees_the_outputs_that_are_named_and_no_others() -> None:
    said = {"shown": torch.ones(2, 1), "hidden": torch.zeros(2, 1)}
    outputs = Outputs(torch.zeros(2, 3), torch.zeros(2, 4), said)
    assert Headed().pool_outputs(outputs, None) == {"shown": said["shown"]}
    assert Least().pool_outputs(outputs, None) == {}


@pytest.mark.parametrize("name", OBJECTIVES)
def test_every_objective_gives_the_outputs_that_it_names(name: str) -> None:
    objective = OBJECTIVES[name]()
    features = torch.rand(2, 9)
    heads = {head: module(features) for head, module in objective.heads(9, 3).items()}
    outputs = Outputs(torch.zeros(2, 3), features, heads)
    companion = objective.companion(3)
    assert tuple(objective.pool_outputs(outputs, companion)) == objective.outputs


@pytest.mark.parametrize("name", OBJECTIVES)
def test_companions_start_from_torchs_generator(name: str) -> None:
    """`restart` seeds it, so that a resumed round has the companion that it had."""
    made = []
    for seed in (1, 1, 2):
        torch.manual_seed(seed)
        made.append(OBJECTIVES[name]().companion(3))
    if made[0] is None:
        assert made == [None] * 3
        return
    one, again, other = ([p.detach() for p in c.module.parameters()] for c in made if c)
    assert all(torch.equal(a, b) for a, b in zip(one, again, strict=True))
    assert not all(torch.equal(a, b) for a, b in zip(one, other, strict=True))


@pytest.mark.parametrize(
    "fields",
    [{"lr": 0}, {"lr": 1, "momentum": 1}, {"lr": 1, "step": 0}, {"lr": 1, "gamma": 1.5}, {}],
    ids=str,
)
def test_an_optimiser_that_can_not_be_is_refused(fields: dict[str, float]) -> None:
    with pytest.raises(ValidationError, match=list(fields)[-1] if fields else "lr"):
        Optimiser.model_validate(fields)
