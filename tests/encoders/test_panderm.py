"""PanDerm from files laid out like the authors': `encoder.` before names, a decoder beside them."""

from pathlib import Path

import numpy as np
import pytest
import torch
from torch import Tensor

from fidal.encoders import ENCODERS, panderm
from fidal.encoders.architectures.vit import VisionTransformer
from fidal.encoders.panderm import PREPARATION, SHAPES, PanDerm
from tests.encoders.made import close, lively, noise, pictures, told_apart

SMALL = {"large": (64, 2, 4), "base": (48, 1, 3)}


@pytest.fixture(autouse=True)
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    """The same names with fewer blocks."""
    monkeypatch.setattr(panderm, "SHAPES", SMALL)


def donor(model: str = "large") -> VisionTransformer:
    network = lively(VisionTransformer(*SMALL[model]), noise(1, 224, 224))
    assert isinstance(network, VisionTransformer)
    return network


def as_published(network: VisionTransformer) -> dict[str, Tensor]:
    """What pre-training saves: the encoder, its teacher, what reconstructs, and a mask token."""
    state = {f"encoder.{name}": tensor for name, tensor in network.state_dict().items()}
    more = ("decoder.norm.weight", "teacher.norm.weight", "regressor.norm.weight", "mask_token")
    return state | {name: torch.full((3,), float("nan")) for name in more}


def test_the_registry_knows_it_and_its_cards_say_what_it_does() -> None:
    assert ENCODERS["panderm"] is PanDerm
    assert {model: card.dimension for model, card in PanDerm.cards.items()} == {
        model: str(width) for model, (width, _, _) in SHAPES.items()
    }
    for card in PanDerm.cards.values():
        assert tuple(map(float, card.mean.split())) == PREPARATION.mean
        assert tuple(map(float, card.std.split())) == PREPARATION.std == (0.228, 0.224, 0.225)


@pytest.mark.parametrize("model", ["large", "base"])
def test_the_published_layout_gives_the_class_token_of_prepared_images(
    tmp_path: Path, model: str
) -> None:
    network = donor(model)
    torch.save(as_published(network), tmp_path / "panderm.pth")
    encoder = PanDerm(checkpoint=tmp_path / "panderm.pth", model=model, batch=2)
    images = pictures(3, 240, 300)
    rows = encoder.encode(images)
    assert rows.shape == (3, encoder.dimension) == (3, SMALL[model][0])
    with torch.no_grad():
        expected = network(PREPARATION(torch.from_numpy(images)))
    assert told_apart(expected) and close(rows, expected)


def test_bare_names_with_a_head_and_without_the_fixed_position_are_taken(tmp_path: Path) -> None:
    network = donor()
    state = network.state_dict()
    del state["pos_embed"]
    more = {"head.weight": torch.ones(9, 64), "head.bias": torch.ones(9)}
    torch.save(state | more, tmp_path / "bare.pth")
    torch.save(as_published(network), tmp_path / "published.pth")
    images = pictures(1, 224, 224)
    rows = [PanDerm(checkpoint=tmp_path / f"{n}.pth").encode(images) for n in ("bare", "published")]
    assert np.array_equal(*rows)


def test_a_position_in_the_file_is_the_one_that_is_used(tmp_path: Path) -> None:
    network = donor()
    torch.save(as_published(network), tmp_path / "a.pth")
    network.pos_embed.mul_(3)
    torch.save(as_published(network), tmp_path / "b.pth")
    a, b = (PanDerm(checkpoint=tmp_path / f"{n}.pth").encode(pictures(1, 224, 224)) for n in "ab")
    assert np.abs(a - b).max() > 1e-3


def test_an_unknown_name_of_the_encoder_is_an_error(tmp_path: Path) -> None:
    torch.save(as_published(donor()) | {"encoder.blocks.2.gamma_1": torch.ones(64)}, tmp_path / "a")
    with pytest.raises(ValueError, match=r"1 names unexpected \(first blocks\.2\.gamma_1\)"):
        PanDerm(checkpoint=tmp_path / "a").network()


def test_base_for_large_is_recognised(tmp_path: Path) -> None:
    torch.save(as_published(donor("base")), tmp_path / "panderm_bb.pth")
    with pytest.raises(ValueError, match=r"panderm_bb\.pth: .* is it the file of model = base\?"):
        PanDerm(checkpoint=tmp_path / "panderm_bb.pth").network()


def test_without_the_file_the_authors_page_is_named(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"panderm_ll_data6_checkpoint-499\.pth: Google Drive"):
        PanDerm(checkpoint=tmp_path / "none.pth").network()
