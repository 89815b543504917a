import pytest
import torch
from torch import Tensor, nn

from fidal.checkpoints.strict import fill


def state() -> dict[str, Tensor]:
    return {"weight": torch.full((2, 3), 2.0), "bias": torch.ones(2)}


def test_a_state_that_fits_fills_the_model_and_the_rest_stays() -> None:
    model = nn.Linear(3, 2)
    fill(model, {**state(), "head.x": torch.ones(1)}, "file", lambda name: name == "head.x")
    assert torch.equal(model.weight, state()["weight"]) and torch.equal(model.bias, torch.ones(2))


def test_what_does_not_fit_is_counted_and_named_and_nothing_is_filled() -> None:
    model = nn.Linear(3, 2)
    before = model.weight.clone()
    other = {"weight": torch.ones(2, 4), "more.a": torch.ones(1), "more.b": torch.ones(1)}
    says = (
        r"^file: 1 names missing \(first bias\); 2 names unexpected \(first more\.a, more\.b\); 1 "
        r"of another shape \(first weight \(2, 4\) for \(2, 3\)\); take another$"
    )
    with pytest.raises(ValueError, match=says):
        fill(model, other, "file", way_out="take another")
    assert torch.equal(model.weight, before)


@pytest.mark.parametrize("value", [float("nan"), float("inf"), -float("inf")])
def test_weights_that_are_not_finite_are_named(value: float) -> None:
    bad = state()
    bad["bias"][1] = value
    with pytest.raises(
        ValueError, match=r"file: 1 of 2 tensors hold NaN .*\(first bias\); .*fetch"
    ):
        fill(nn.Linear(3, 2), bad, "file")


def test_whole_numbers_and_halves_are_taken() -> None:
    model = nn.BatchNorm1d(2)
    content = {
        name: x.half() if x.is_floating_point() else x + 7 for name, x in model.state_dict().items()
    }
    fill(model, content, "file")
    assert int(model.num_batches_tracked or 0) == 7
