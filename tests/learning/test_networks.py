from pathlib import Path

import pytest
import torch

from fidal.learning.networks import Architecture, Network, build
from fidal.learning.objectives import OBJECTIVES

IMAGENET = torch.tensor([0.485, 0.456, 0.406])

PLAIN = OBJECTIVES["cross-entropy"]()


def network(kind: str, shape: tuple[int, ...], objective: str = "cross-entropy") -> Network:
    return build(Architecture(kind=kind), shape, 5, OBJECTIVES[objective](), seed=0)


def test_a_linear_probe_hands_its_input_on_as_features() -> None:
    x = torch.rand(3, 7)
    out = network("linear", (7,))(x)
    assert torch.equal(out.features, x)
    assert out.logits.shape == (3, 5) and out.spatial is None


@pytest.mark.parametrize("kind", ["small-cnn", "efficientnet_b0", "densenet121", "resnet10t"])
def test_convolutional_networks_have_features_and_a_map(kind: str) -> None:
    net = network(kind, (64, 64, 3)).eval()
    out = net(torch.rand(2, 3, 64, 64))
    width = net.classifier.in_features
    assert out.logits.shape == (2, 5) and out.features.shape == (2, width)
    assert out.spatial is not None and out.spatial.ndim == 4
    if kind in ("efficientnet_b0", "densenet121"):
        assert width == {"efficientnet_b0": 1280, "densenet121": 1024}[kind]


def test_a_transformer_has_no_map() -> None:
    out = network("vit_tiny_patch16_224", (224, 224, 3)).eval()(torch.rand(1, 3, 224, 224))
    assert out.spatial is None and out.features.shape == (1, 192)


def test_initial_weights_depend_on_the_seed_alone() -> None:
    a = network("small-cnn", (64, 64, 3))
    torch.rand(9)
    b = network("small-cnn", (64, 64, 3))
    assert all(torch.equal(x, y) for x, y in zip(a.parameters(), b.parameters(), strict=True))


def test_backbone_and_classifier_start_alike_under_every_objective() -> None:
    plain = network("small-cnn", (64, 64, 3)).state_dict()
    for name in OBJECTIVES:
        other = network("small-cnn", (64, 64, 3), name).state_dict()
        assert all(torch.equal(plain[key], other[key]) for key in plain)


def test_extra_heads_come_from_the_objective() -> None:
    net = network("linear", (7,), "detector")
    assert net(torch.rand(2, 7)).heads["detector"].shape == (2, 6)


def test_images_are_normalised_as_the_weights_of_the_network_want_them() -> None:
    torch.testing.assert_close(network("efficientnet_b0", (64, 64, 3)).mean, IMAGENET)
    assert network("tf_efficientnet_lite0", (64, 64, 3)).std.tolist() == [0.5, 0.5, 0.5]


@pytest.mark.parametrize(
    ("kind", "shape", "says"),
    [
        ("linear", (64, 64, 3), "does not take images"),
        ("small-cnn", (7,), "does not take vectors"),
        ("densenet12", (64, 64, 3), "did you mean 'densenet1"),
    ],
)
def test_a_network_that_does_not_fit_says_so(kind: str, shape: tuple[int, ...], says: str) -> None:
    with pytest.raises(ValueError, match=says):
        network(kind, shape)


def test_a_tag_of_timm_is_part_of_a_network_s_name() -> None:
    assert network("resnet10t.c3_in1k", (64, 64, 3)).classifier.in_features == 512


@pytest.mark.parametrize("field", [{"pretrained": True}, {"checkpoint": Path("a.pth")}])
@pytest.mark.parametrize(("kind", "shape"), [("linear", (7,)), ("small-cnn", (64, 64, 3))])
def test_weights_for_a_network_that_has_none_are_refused(
    kind: str, shape: tuple[int, ...], field: dict[str, object]
) -> None:
    architecture = Architecture.model_validate({"kind": kind, **field})
    with pytest.raises(ValueError, match=f"'{kind}' has no weights to begin with"):
        build(architecture, shape, 5, PLAIN, 0)
    build(architecture.without_weights(), shape, 5, PLAIN, 0)
