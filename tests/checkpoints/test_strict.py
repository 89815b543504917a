import pytest
import torch
from torch import Tensor, nn

from fidal.checkpoints.files import CheckpointError
from fidal.checkpoints.strict import fill


def network(*, value: float = 0.0) -> nn.Module:
    made = nn.ModuleDict({"a": nn.Linear(2, 3), "b": nn.Linear(3, 1)})
    for p in made.parameters():
        nn.init.constant_(p, value)
    return made


def weights(model: nn.Module) -> dict[str, Tensor]:
    return {name: x.clone() for name, x in model.state_dict().items()}


def test_what_fits_is_copied() -> None:
    model, state = network(), weights(network(value=2.0))
    fill(model, state, "donor.pth")
    assert all(bool((x == 2).all()) for x in model.state_dict().values())
    state["a.weight"].zero_()
    assert bool((model.state_dict()["a.weight"] == 2).all())  # a copy, not the file's own tensor


def test_only_names_that_may_stay_are_left_in_the_file() -> None:
    state = weights(network(value=2.0)) | {"fc.weight": torch.zeros(9, 9)}
    model = network()
    fill(model, state, "donor.pth", may_stay=lambda name: name.startswith("fc."))
    assert bool((model.state_dict()["b.bias"] == 2).all())
    with pytest.raises(CheckpointError, match=r"1 names unexpected \(first fc\.weight\)"):
        fill(model, state, "donor.pth")


def test_a_name_of_the_network_may_not_stay_away() -> None:
    state = weights(network())
    del state["b.bias"]
    with pytest.raises(CheckpointError, match=r"1 names missing \(first b\.bias\)"):
        fill(network(), state, "donor.pth", may_stay=lambda name: True)


def test_all_findings_are_counted_and_the_first_three_of_each_named() -> None:
    state = {"z": torch.zeros(1), "a.weight": torch.zeros(3, 4)}
    state |= {f"more.{i}": torch.zeros(1) for i in range(4)}
    with pytest.raises(CheckpointError) as error:
        fill(network(), state, "network checkpoint donor.pth")
    assert str(error.value) == (
        "network checkpoint donor.pth: 3 names missing (first a.bias, b.bias, b.weight); "
        "5 names unexpected (first more.0, more.1, more.2); "
        "1 of another shape (first a.weight (3, 4) for (3, 2)); is it another architecture?"
    )


def test_a_network_that_is_refused_its_file_stays_as_it_was() -> None:
    model = network(value=1.0)
    state = weights(network(value=2.0)) | {"a.weight": torch.full((3, 4), 2.0)}
    with pytest.raises(CheckpointError):
        fill(model, state, "donor.pth")
    assert all(bool((x == 1).all()) for x in model.state_dict().values())


@pytest.mark.parametrize("value", [float("nan"), float("inf"), -float("inf")])
def test_weights_that_are_not_finite_are_named(value: float) -> None:
    bad = weights(nn.Linear(3, 2))
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
