from pathlib import Path

import pytest
import timm
import torch
from safetensors.torch import save_file
from torch import nn

from fidal.learning.backbones import Identity, SmallConvNet, Timm, load_checkpoint


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


def test_weights_that_the_hub_does_not_give_are_an_error_with_ways_out(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_OFFLINE", True)
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_CACHE", str(tmp_path))
    with pytest.raises(ValueError, match=r"'resnet10t': no weights from timm's hub.*checkpoint"):
        Timm("resnet10t", pretrained=True, checkpoint=None)
    with pytest.raises(ValueError, match=r"'resnetblur18': no weights.*pretrained = false"):
        Timm("resnetblur18", pretrained=True, checkpoint=None)
    with pytest.raises(ValueError, match=r"network\.kind 'resnet10t\.foo': Invalid pretrained tag"):
        Timm("resnet10t.foo", pretrained=False, checkpoint=None)


class Code:
    """What a pickle could run, if it were unpickled."""


def broken(folder: Path) -> dict[str, Path]:
    files = {name: folder / name for name in ("garbage.pth", "garbage.safetensors", "code.pth")}
    for name in ("garbage.pth", "garbage.safetensors"):
        files[name].write_bytes(b"not a file of tensors")
    torch.save({"state": Code()}, files["code.pth"])
    files["absent.pth"] = folder / "absent.pth"
    files["list.pth"] = folder / "list.pth"
    torch.save([torch.zeros(2)], files["list.pth"])
    return files


@pytest.mark.parametrize(
    ("name", "says"),
    [
        ("garbage.pth", "can't be read as tensors alone"),
        ("garbage.safetensors", "can't be read as tensors alone"),
        ("code.pth", "can't be read as tensors alone"),
        ("absent.pth", "there is no file"),
        ("list.pth", "holds no state_dict"),
    ],
)
def test_a_file_that_is_no_checkpoint_is_refused_and_not_unpickled(
    name: str, says: str, tmp_path: Path
) -> None:
    with pytest.raises(ValueError, match=f"network\\.checkpoint.*{says}"):
        load_checkpoint(nn.Linear(2, 2), broken(tmp_path)[name])


def test_a_checkpoint_of_other_shapes_is_refused_and_changes_nothing(tmp_path: Path) -> None:
    net = nn.Linear(2, 2)
    before = net.weight.detach().clone()
    save_file({"weight": torch.zeros(2, 3), "bias": torch.zeros(2)}, tmp_path / "a.safetensors")
    with pytest.raises(ValueError, match=r"1 of another shape \(first \['weight'\]"):
        load_checkpoint(net, tmp_path / "a.safetensors")
    assert torch.equal(net.weight, before)
