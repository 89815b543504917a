"""CHIEF from a file laid out like the authors': everything under `model`."""

from pathlib import Path

import pytest
import torch
from torch import Tensor

from fidal.encoders import ENCODERS
from fidal.encoders.architectures.swin import SwinTiny
from fidal.encoders.chief import CONSTANTS, Chief
from tests.encoders.made import close, lively, noise, pictures, told_apart


@pytest.fixture(scope="module")
def donor() -> SwinTiny:
    network = SwinTiny()
    lively(network.patch_embed, noise(1, 224, 224))
    return network.eval()


def saved(path: Path, state: dict[str, Tensor]) -> Path:
    torch.save({"model": state}, path)
    return path


def test_the_published_layout_gives_the_mean_token_of_patches_made_larger(
    tmp_path: Path, donor: SwinTiny
) -> None:
    assert ENCODERS["chief"] is Chief
    encoder = Chief(checkpoint=saved(tmp_path / "CHIEF_CTransPath.pth", donor.state_dict()))
    images = pictures(2, 96, 96)
    rows = encoder.encode(images)
    with torch.no_grad():
        expected = donor(encoder.preparation(torch.from_numpy(images)))
    assert rows.shape == (2, encoder.dimension) == (2, 768)
    assert told_apart(expected) and close(rows, expected)


def test_constants_may_be_absent_and_nothing_else(tmp_path: Path, donor: SwinTiny) -> None:
    state = {k: x for k, x in donor.state_dict().items() if not k.endswith(CONSTANTS)}
    found = Chief(checkpoint=saved(tmp_path / "a.pth", state)).network().state_dict()
    assert all(torch.equal(found[name], tensor) for name, tensor in donor.state_dict().items())
    del state["patch_embed.proj.1.running_var"]
    with pytest.raises(ValueError, match=r"1 names missing \(first patch_embed.proj.1.running_var"):
        Chief(checkpoint=saved(tmp_path / "a.pth", state)).network()


def test_a_plain_swin_is_refused(tmp_path: Path, donor: SwinTiny) -> None:
    state = donor.state_dict()
    state["patch_embed.proj.weight"] = torch.ones(96, 3, 4, 4)
    state["head.weight"] = torch.ones(1000, 768)
    says = r"encoder 'chief': swin\.pth: 2 names unexpected \(first head.weight, patch_embed.proj.w"
    with pytest.raises(ValueError, match=says):
        Chief(checkpoint=saved(tmp_path / "swin.pth", state)).network()


def test_how_patches_are_resized_is_part_of_the_identity(tmp_path: Path, donor: SwinTiny) -> None:
    file = saved(tmp_path / "a.pth", {"a": torch.ones(1)})
    default, authors = Chief(checkpoint=file), Chief(checkpoint=file, resample="bilinear")
    assert default.preparation.resample == "bicubic" and default.identity != authors.identity
    assert default.preparation.std == (0.229, 0.224, 0.225)
