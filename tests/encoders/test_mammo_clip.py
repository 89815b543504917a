"""Mammo-CLIP from a file laid out like the authors': weights among a whole training state."""

from pathlib import Path

import numpy as np
import pytest
import torch

from fidal.checkpoints.convert import look_into, write
from fidal.encoders import ENCODERS, mammo_clip
from fidal.encoders.architectures.efficientnet import EfficientNet, Scale
from fidal.encoders.mammo_clip import MammoClip
from tests.encoders.made import close, lively, noise, pictures, told_apart

SMALL = {"b5": Scale(0.4, 0.7, 456), "b2": Scale(0.3, 0.7, 260)}


@pytest.fixture(autouse=True)
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    """The same names with fewer and narrower blocks."""
    monkeypatch.setattr(mammo_clip, "SCALES", SMALL)


def donor(model: str) -> EfficientNet:
    network = lively(EfficientNet(SMALL[model]), noise(2, 224, 224))
    assert isinstance(network, EfficientNet)
    return network


def as_published(path: Path, network: EfficientNet) -> Path:
    """What training saves: both encoders, projections, the optimiser, and a configuration."""
    config = pytest.importorskip("omegaconf").OmegaConf.create(
        {"model": {"image_encoder": {"name": "tf_efficientnet_b5_ns-detect", "pretrained": True}}}
    )
    model = {f"image_encoder.{name}": x for name, x in network.state_dict().items()}
    model |= {name: torch.ones(2) for name in ("text_encoder.x", "image_projection.w")}
    model["logit_scale"] = torch.tensor(2.0)
    optimizer = torch.optim.AdamW(network.parameters()).state_dict()
    loss = np.float64(0.5)
    torch.save({"model": model, "optimizer": optimizer, "config": config, "train_loss": loss}, path)
    return path


@pytest.mark.parametrize("model", ["b5", "b2"])
def test_the_published_file_converted_gives_the_mean_of_the_last_map(
    tmp_path: Path, model: str
) -> None:
    network = donor(model)
    file = tmp_path / "mammo.safetensors"
    write(look_into(as_published(tmp_path / "mammo.tar", network)), file)
    encoder = MammoClip(checkpoint=file, model=model)
    images = pictures(2, 256, 192, channels=1)
    rows = encoder.encode(images)
    assert rows.shape == (2, encoder.dimension) == (2, SMALL[model].channels(1280))
    x = torch.from_numpy(images).permute(0, 3, 1, 2).float()
    x = x - x.amin((1, 2, 3), keepdim=True)
    x = (x / x.amax((1, 2, 3), keepdim=True) - 0.3089279) / 0.25053555408335154
    with torch.no_grad():
        expected = network(x.repeat(1, 3, 1, 1))
    assert told_apart(expected) and close(rows, expected)


def test_the_published_file_as_it_is_says_how_to_convert_it(tmp_path: Path) -> None:
    file = as_published(tmp_path / "b5-model-best-epoch-7.tar", donor("b5"))
    says = r"fidal encoders convert .*7\.tar --out b5-model-best-epoch-7\.safetensors"
    with pytest.raises(ValueError, match=says):
        MammoClip(checkpoint=file).network()


def test_b2_for_b5_is_recognised(tmp_path: Path) -> None:
    torch.save({"model": donor("b2").state_dict()}, tmp_path / "b2.pth")
    with pytest.raises(ValueError, match=r"model = 'b5': b2\.pth: .* of model = b2\?"):
        MammoClip(checkpoint=tmp_path / "b2.pth").network()


def test_its_dimensions_are_declared(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.undo()
    assert ENCODERS["mammo-clip"] is MammoClip
    for model, dimension in (("b5", 2048), ("b2", 1408)):
        assert MammoClip(checkpoint=Path("none"), model=model).dimension == dimension
        assert MammoClip.cards[model].dimension == str(dimension)
