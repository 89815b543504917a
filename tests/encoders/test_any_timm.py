"""Networks of timm: from files, from a hub that is played here, at their size and at another."""

from pathlib import Path

import numpy as np
import pytest
import timm
import torch
from PIL import Image
from safetensors.torch import save_file
from torch import nn

from fidal.encoders import ENCODERS, any_timm
from fidal.encoders.any_timm import TimmEncoder
from tests.encoders.made import lively, noise, pictures, told_apart

SMALL = "test_vit"
"""Half a million parameters that see 160 x 160 pixels."""


@pytest.fixture(scope="module")
def donor() -> nn.Module:
    network: nn.Module = timm.create_model(SMALL)
    return lively(network, noise(1, 160, 160), by=0.1)


@pytest.fixture
def file(donor: nn.Module, tmp_path: Path) -> Path:
    save_file(donor.state_dict(), tmp_path / "vit.safetensors")
    return tmp_path / "vit.safetensors"


def by_timm(donor: nn.Module, images: np.ndarray, transform: object) -> torch.Tensor:
    x = torch.stack([transform(Image.fromarray(image)) for image in images])  # type: ignore[operator]
    with torch.no_grad():
        return donor.forward_head(donor.forward_features(x), pre_logits=True)  # type: ignore[operator]


def test_a_file_gives_what_timm_gives_with_its_own_transform(donor: nn.Module, file: Path) -> None:
    assert ENCODERS["timm"] is TimmEncoder
    images = pictures(3, 224, 224)
    encoder = TimmEncoder(model=SMALL, checkpoint=file)
    config = timm.data.resolve_data_config(model=donor)
    expected = by_timm(donor, images, timm.data.create_transform(**config))
    rows = encoder.encode(images)
    assert rows.shape == (3, encoder.dimension) == (3, donor.num_features)
    assert told_apart(expected)
    # Resizing rounds a few pixels otherwise than Pillow does.
    assert np.allclose(rows, expected, atol=2e-2)
    assert np.abs(rows - expected.numpy()).mean() < 2e-3


def test_another_size_resamples_the_position(donor: nn.Module, file: Path) -> None:
    encoder = TimmEncoder(model=SMALL, checkpoint=file, size=96)
    assert encoder.preparation.size == 96 and encoder.preparation.edge == 101  # 96 / 0.95
    network = timm.create_model(SMALL, num_classes=0)
    network.load_state_dict({k: x for k, x in donor.state_dict().items() if "head." not in k})
    network.set_input_size(img_size=96)
    x = noise(2, 96, 96)
    with torch.no_grad():
        assert torch.equal(encoder.network().eval()(x), network.eval()(x))
    assert encoder.identity != TimmEncoder(model=SMALL, checkpoint=file).identity


def test_the_hub_is_asked_and_what_it_gave_is_hashed(
    donor: nn.Module, monkeypatch: pytest.MonkeyPatch
) -> None:
    any_timm._hash_of_hub.cache_clear()
    asked: list[bool] = []

    def create(model: str, *, pretrained: bool) -> nn.Module:
        asked.append(pretrained)
        network: nn.Module = timm.create_model(model, num_classes=0)
        network.load_state_dict({k: x for k, x in donor.state_dict().items() if "head." not in k})
        return network

    monkeypatch.setattr(any_timm, "create", create)
    encoder = TimmEncoder(model=SMALL)
    identity = encoder.identity
    assert True in asked and encoder.identity == identity
    any_timm._hash_of_hub.cache_clear()
    donor.cls_token.data.add_(1)  # type: ignore[union-attr, operator]
    assert encoder.identity != identity
    any_timm._hash_of_hub.cache_clear()


def test_without_a_hub_a_file_is_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    def unreachable(*args: object, **kwargs: object) -> None:
        raise ConnectionError("no route")

    any_timm._hash_of_hub.cache_clear()
    encoder = TimmEncoder(model=SMALL)
    monkeypatch.setattr("timm.create_model", unreachable)
    with pytest.raises(ValueError, match=r"can't be fetched .*no route.*give checkpoint ="):
        _ = encoder.weights


def test_names_that_timm_does_not_know_are_corrected() -> None:
    with pytest.raises(ValueError, match=r"'resnet5' is unknown to timm; did you mean 'resnet"):
        TimmEncoder(model="resnet5")


def test_a_transform_that_is_not_built_in_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    config = {**any_timm._facts(SMALL)[1], "interpolation": "lanczos"}
    monkeypatch.setattr(any_timm, "_facts", lambda model: (64, config))
    with pytest.raises(ValueError, match=r"'test_vit' wants lanczos resampling .* encoder 'onnx'"):
        _ = TimmEncoder(model=SMALL).preparation


def test_a_foreign_file_is_refused(tmp_path: Path) -> None:
    save_file({"a": torch.ones(1)}, tmp_path / "a.safetensors")
    with pytest.raises(ValueError, match=r"a\.safetensors: \d+ names missing .*1 names unexpected"):
        TimmEncoder(model=SMALL, checkpoint=tmp_path / "a.safetensors").network()


@pytest.mark.slow
def test_dinov2_loads_under_its_own_names_at_224_pixels(tmp_path: Path) -> None:
    name = "vit_small_patch14_dinov2"
    save_file(timm.create_model(name, num_classes=0).state_dict(), tmp_path / "dino.safetensors")
    encoder = TimmEncoder(model=name, checkpoint=tmp_path / "dino.safetensors", size=224)
    assert encoder.dimension == 384 and encoder.preparation.resample == "bicubic"
    assert encoder.encode(pictures(2, 224, 224)).shape == (2, 384)
