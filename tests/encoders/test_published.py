"""What every encoder with a published file refuses, shown on one that is small."""

from collections.abc import Mapping
from pathlib import Path
from typing import ClassVar, Literal

import numpy as np
import pytest
import torch
from safetensors.torch import save_file
from torch import Tensor, nn

from fidal.encoders.base import Card
from fidal.encoders.preparation import Preparation
from fidal.encoders.published import PublishedEncoder
from tests.encoders.made import pictures

WIDTHS = {"wide": 6, "narrow": 4}


def card(model: str) -> Card:
    return Card(str(WIDTHS[model]), "as stored", "0", "1", "MIT", f"{model}.pth: on the moon")


class Tiny(PublishedEncoder):
    """Colours through one map."""

    name: ClassVar[str] = "tiny"
    cards: ClassVar[Mapping[str, Card]] = {model: card(model) for model in WIDTHS}
    model: Literal["wide", "narrow"] = "wide"

    @property
    def dimension(self) -> int:
        return WIDTHS[self.model]

    @property
    def preparation(self) -> Preparation:
        return Preparation(None, (0, 0, 0), (1, 1, 1))

    def empty(self) -> nn.Module:
        return nn.Sequential(
            nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(3, WIDTHS[self.model])
        )

    @staticmethod
    def may_stay(name: str) -> bool:
        return name.startswith("head.")


def state(width: int = 6) -> dict[str, Tensor]:
    weight = torch.arange(3.0 * width).reshape(width, 3)
    return {"2.weight": weight, "2.bias": torch.ones(width)}


def saved(path: Path, content: Mapping[str, Tensor]) -> Path:
    save_file(dict(content), path)
    return path


def test_it_encodes_with_the_weights_of_the_file(tmp_path: Path) -> None:
    file = saved(tmp_path / "a.safetensors", {**state(), "head.weight": torch.ones(2)})
    images = pictures(3, 16, 16)
    rows = Tiny(checkpoint=file).encode(images)
    expected = images.mean((1, 2)) / 255 @ state()["2.weight"].numpy().T + 1
    assert np.allclose(rows, expected, atol=1e-5)


def test_the_identity_follows_model_and_content_not_the_path(tmp_path: Path) -> None:
    a, b = (saved(tmp_path / f"{name}.safetensors", state()) for name in "ab")
    other = saved(tmp_path / "c.safetensors", {**state(), "2.bias": torch.zeros(6)})
    narrow = saved(tmp_path / "d.safetensors", state(4))
    assert Tiny(checkpoint=a).identity == Tiny(checkpoint=b).identity
    encoders = [Tiny(checkpoint=f) for f in (a, other)] + [Tiny(checkpoint=narrow, model="narrow")]
    assert len({encoder.identity for encoder in encoders}) == 3


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"2.bias": None}, r"1 names missing \(first 2\.bias\)"),
        ({"3.bias": torch.ones(1)}, r"1 names unexpected \(first 3\.bias\)"),
        ({"2.bias": torch.full((6,), float("nan"))}, r"1 of 2 tensors hold NaN .*\(first 2\.bias"),
        ({"2.weight": torch.full((6, 3), float("inf"))}, r"1 of 2 tensors hold NaN or infinite"),
    ],
    ids=["missing", "unexpected", "nan", "inf"],
)
def test_a_file_that_does_not_fit_to_the_last_name_is_refused(
    tmp_path: Path, change: dict[str, Tensor | None], says: str
) -> None:
    content = {name: x for name, x in {**state(), **change}.items() if x is not None}
    file = saved(tmp_path / "a.safetensors", content)
    with pytest.raises(
        ValueError, match=r"encoder 'tiny', model = 'wide': a\.safetensors: " + says
    ):
        Tiny(checkpoint=file).encode(pictures(1, 8, 8))


def test_the_file_of_the_other_model_is_recognised(tmp_path: Path) -> None:
    file = saved(tmp_path / "narrow.safetensors", state(4))
    says = r"2 of another shape \(first 2.weight \(4, 3\) for \(6, 3\).*file of model = narrow\?"
    with pytest.raises(ValueError, match=says):
        Tiny(checkpoint=file).encode(pictures(1, 8, 8))
    assert Tiny(checkpoint=file, model="narrow").encode(pictures(1, 8, 8)).shape == (1, 4)


def test_an_absent_file_says_where_weights_come_from(tmp_path: Path) -> None:
    says = r"encoder 'tiny': no checkpoint at .*none\.pth.*; the file: narrow\.pth: on the moon"
    encoder = Tiny(checkpoint=tmp_path / "none.pth", model="narrow")
    with pytest.raises(ValueError, match=says):
        encoder.encode(pictures(1, 8, 8))
    with pytest.raises(ValueError, match=says):
        _ = encoder.identity
