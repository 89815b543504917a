import pytest
import torch
from torch import Tensor

from fidal.learning.networks import Architecture, Network, build
from fidal.learning.objectives import OBJECTIVES
from fidal.learning.precision import forward

IMAGES, VECTORS = (32, 32, 3), (7,)


def network(kind: str, shape: tuple[int, ...]) -> Network:
    return build(Architecture(kind=kind), shape, 5, OBJECTIVES["detector"](), seed=0).eval()


def images(n: int = 4) -> Tensor:
    return torch.rand(n, 3, 32, 32, generator=torch.Generator().manual_seed(0))


def test_vectors_go_through_as_they_are() -> None:
    probe, x = network("linear", VECTORS), torch.rand(4, 7)
    said, plain = forward(probe, x), probe(x)
    assert said.features is x and said.spatial is None
    assert torch.equal(said.logits, plain.logits)
    assert torch.equal(said.heads["detector"], plain.heads["detector"])


def test_images_are_laid_out_channels_last_and_mean_the_same() -> None:
    seen: list[Tensor] = []
    net, x = network("small-cnn", IMAGES), images()
    net.backbone.register_forward_pre_hook(lambda _, args: seen.append(args[0]))
    said = forward(net, x)
    assert seen[0].is_contiguous(memory_format=torch.channels_last)
    assert x.is_contiguous() and not x.is_contiguous(memory_format=torch.channels_last)
    plain = net(x)
    torch.testing.assert_close(said.logits, plain.logits, atol=1e-5, rtol=1e-5)
    torch.testing.assert_close(said.heads["detector"], plain.heads["detector"], atol=1e-5, rtol=0)
    assert said.spatial is not None and plain.spatial is not None
    torch.testing.assert_close(said.spatial, plain.spatial, atol=1e-5, rtol=1e-5)


def test_on_the_cpu_nothing_is_rounded_and_gradients_reach_every_parameter() -> None:
    net = network("small-cnn", IMAGES).train()
    said = forward(net, images())
    assert said.spatial is not None
    everything = (said.logits, said.features, said.spatial, *said.heads.values())
    assert {x.dtype for x in everything} == {torch.float32}
    sum(x.sum() for x in everything).backward()  # type: ignore[union-attr]
    assert all(p.grad is not None and p.dtype == torch.float32 for p in net.parameters())


@pytest.mark.gpu
def test_a_linear_probe_is_never_rounded() -> None:
    probe, x = network("linear", VECTORS), torch.rand(64, 7)
    there = forward(probe.cuda(), x.cuda()).logits.cpu()
    torch.testing.assert_close(there, probe.cpu()(x).logits, atol=1e-5, rtol=1e-5)


@pytest.mark.gpu
def test_images_are_computed_in_bfloat16_where_there_is_one_and_come_out_in_float32() -> None:
    inside: list[torch.dtype] = []
    net = network("small-cnn", IMAGES).cuda()
    net.backbone.register_forward_hook(lambda *args: inside.append(args[2][1].dtype))
    said = forward(net, images().cuda())
    native = torch.cuda.is_bf16_supported(including_emulation=False)
    assert inside == [torch.bfloat16 if native else torch.float32]
    assert said.spatial is not None
    everything = (said.logits, said.features, said.spatial, *said.heads.values())
    assert {x.dtype for x in everything} == {torch.float32}
    want = net.cpu()(images()).logits
    torch.testing.assert_close(said.logits.cpu(), want, atol=0.05, rtol=0.05)
