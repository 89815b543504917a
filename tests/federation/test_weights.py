import pytest
import torch

from fidal.federation.messages import TensorSpec, Weights
from fidal.federation.weights import check, digest, pack, unpack
from fidal.learning.backbones import SmallConvNet

SPECS = (TensorSpec("w", (2,), "float32"), TensorSpec("seen", (), "int64"))


def weights(*values: float) -> Weights:
    return Weights(SPECS, torch.tensor(values))


def test_pack_and_unpack_are_inverse() -> None:
    state = torch.nn.Sequential(torch.nn.Linear(3, 2), torch.nn.BatchNorm1d(2)).state_dict()
    back = unpack(pack(state))
    assert list(back) == list(state)
    assert all(torch.equal(back[k], state[k]) and back[k].dtype == state[k].dtype for k in state)


def test_integer_buffers_are_rounded_where_they_are_unpacked() -> None:
    assert unpack(weights(1, 2, 4.6))["seen"].item() == 5
    assert unpack(weights(1, 2, 4.6))["seen"].dtype == torch.int64


@pytest.mark.parametrize(
    ("broken", "says"),
    [
        (Weights(SPECS, torch.zeros(4)), "manifest has 3"),
        (Weights(SPECS, torch.zeros(3, 1)), "manifest has 3"),
        (weights(1, float("nan"), 2), "NaN"),
        (weights(1, float("inf"), 2), "infinite"),
        (Weights(SPECS[:1], torch.zeros(2)), "another network"),
    ],
)
def test_weights_that_can_not_be_taken_say_why(broken: Weights, says: str) -> None:
    with pytest.raises(ValueError, match=says):
        check(broken, against=SPECS)


def test_digest_sees_values_and_names() -> None:
    a, b = weights(1, 2, 3), weights(1, 2, 3)
    renamed = Weights((TensorSpec("v", (2,), "float32"), SPECS[1]), a.flat)
    assert digest(a) == digest(b)
    assert len({digest(a), digest(weights(1, 2, 4)), digest(renamed)}) == 3


def test_the_array_is_in_the_order_of_the_manifest_and_leaves_nothing_out() -> None:
    net = SmallConvNet()
    packed = pack(net.state_dict())
    assert [spec.name for spec in packed.specs] == list(net.state_dict())
    assert {"layers.1.running_mean", "layers.1.num_batches_tracked"} <= {
        spec.name for spec in packed.specs
    }
    assert packed.flat.dtype == torch.float32
    assert len(packed.flat) == sum(x.numel() for x in net.state_dict().values())


def test_half_precision_comes_back_as_it_was() -> None:
    state = {"a": torch.randn(5).to(torch.bfloat16), "b": torch.randn(2, 3).half()}
    back = unpack(pack(state))
    assert all(torch.equal(back[k], state[k]) and back[k].dtype == state[k].dtype for k in state)


def test_a_packed_network_no_longer_moves_with_the_network() -> None:
    net = torch.nn.Linear(2, 2)
    packed = pack(net.state_dict())
    before = packed.flat.clone()
    with torch.no_grad():
        net.weight.add_(1)
    assert torch.equal(packed.flat, before)


def test_a_network_of_nothing_packs_to_nothing() -> None:
    assert unpack(pack({})) == {}
