import pytest
import torch
from torch import nn

from fidal.federation.weights import pack, unpack
from fidal.learning.flat import Flat
from fidal.learning.networks import Architecture, build
from fidal.learning.objectives import OBJECTIVES
from fidal.learning.objectives.base import Optimiser
from fidal.learning.optimisers import make_optimiser


def network(seed: int, kind: str = "small-cnn") -> nn.Module:
    made = build(Architecture(kind=kind), (16, 16, 3), 3, OBJECTIVES["pal"](), seed)
    for x in made.buffers():
        if x.dtype == torch.int64:
            x.fill_(seed + 5)
    return made


@pytest.mark.parametrize("device", ["cpu", pytest.param("cuda", marks=pytest.mark.gpu)])
def test_what_is_packed_is_what_the_state_dict_packs(device: str) -> None:
    plain, ours = network(1).to(device), network(1).to(device)
    flat = Flat(ours)
    want = pack(plain.state_dict())
    assert flat.specs == want.specs
    assert torch.equal(flat.weights().flat, want.flat)
    assert torch.equal(pack(ours.state_dict()).flat, want.flat)


@pytest.mark.parametrize("device", ["cpu", pytest.param("cuda", marks=pytest.mark.gpu)])
def test_loading_is_loading_the_state_dict(device: str) -> None:
    sent = pack(network(2).state_dict())
    plain, ours = network(1).to(device), network(1).to(device)
    plain.load_state_dict(unpack(sent))
    Flat(ours).load(sent)
    for name, x in plain.state_dict().items():
        assert torch.equal(x, ours.state_dict()[name]), name


def test_counters_are_rounded_as_an_average_of_them_must_be() -> None:
    ours = network(1)
    flat = Flat(ours)
    sent = pack(network(2).state_dict())
    sent.flat.add_(0.4)
    flat.load(sent)
    assert ours.state_dict()["backbone.layers.1.num_batches_tracked"].item() == 7


def test_training_goes_on_in_the_array_and_kernels_lie_channels_last() -> None:
    ours = network(1)
    flat = Flat(ours)
    before = flat.weights().flat
    optimiser = make_optimiser(Optimiser(lr=0.1), list(ours.parameters()))
    x = torch.rand(4, 3, 16, 16, generator=torch.Generator().manual_seed(0))
    said = ours(x)
    sum(head.sum() for head in (said.logits, *said.heads.values())).backward()
    optimiser.step()
    assert not torch.equal(flat.weights().flat, before)
    assert torch.equal(flat.weights().flat, pack(ours.state_dict()).flat)
    kernel = ours.backbone.layers[3].weight
    assert kernel.is_contiguous(memory_format=torch.channels_last)


def test_another_networks_weights_are_refused() -> None:
    with pytest.raises(ValueError, match="another network"):
        Flat(network(1)).load(pack(nn.Linear(3, 2).state_dict()))
