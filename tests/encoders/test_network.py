"""What all networks have in common: batches, one reading of the weights, refusals."""

from typing import ClassVar

import numpy as np
import pytest
import torch
from torch import nn

from fidal.encoders.network import NetworkEncoder
from fidal.encoders.preparation import Preparation
from tests.encoders.made import pictures

MEAN, STD = (0.1, 0.2, 0.3), (0.5, 0.6, 0.7)


class Means(NetworkEncoder):
    """The mean of each prepared channel, dropped out if anyone forgets to switch to evaluation."""

    name: ClassVar[str] = "means"
    loads: ClassVar[list[str]] = []
    file: ClassVar[str] = "first"

    @property
    def dimension(self) -> int:
        return 3

    @property
    def preparation(self) -> Preparation:
        return Preparation(None, MEAN, STD)

    @property
    def weights(self) -> str:
        return self.file

    def network(self) -> nn.Module:
        self.loads.append(self.file)
        return nn.Sequential(nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Dropout(0.5))


@pytest.fixture(autouse=True)
def fresh(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Means, "loads", [])
    Means().release()


def test_rows_are_those_of_the_prepared_images_whatever_the_batch() -> None:
    images = pictures(7, 24, 32)
    expected = (images.mean((1, 2)) / 255 - MEAN) / STD
    for batch in (1, 2, 7, 32, None):
        rows = Means(batch=batch).encode(images)
        assert rows.dtype == np.float32
        assert np.allclose(rows, expected, atol=1e-5)
    assert Means().encode(images[:0]).shape == (0, 3)


def test_unset_the_batch_follows_the_pixels_that_the_network_sees(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    batches: list[int] = []
    monkeypatch.setattr(
        "fidal.encoders.network.forward",
        lambda network, x: batches.append(len(x)) or torch.zeros(len(x), 3),
    )
    monkeypatch.setattr("fidal.encoders.network.device", lambda: torch.device("cpu"))
    Means().encode(pictures(20, 224, 224))
    Means().encode(pictures(3, 1024, 768, channels=1))
    assert batches == [16, 4, 1, 1, 1]
    batches.clear()
    monkeypatch.setattr(Means, "preparation", Preparation(112, MEAN, STD))
    Means().encode(pictures(70, 224, 224))
    assert batches == [64, 6]


def test_gray_images_and_read_only_ones_are_taken() -> None:
    gray = pictures(3, 24, 32, channels=1)
    gray.setflags(write=False)
    three = gray.repeat(3, axis=3)
    assert np.allclose(Means().encode(gray), Means().encode(three), atol=1e-5)


def test_weights_are_read_once_until_released_or_changed(monkeypatch: pytest.MonkeyPatch) -> None:
    images = pictures(2, 8, 8)
    for _ in range(3):
        Means().encode(images)
    assert Means.loads == ["first"]
    monkeypatch.setattr(Means, "file", "second")
    Means().encode(images)
    assert Means.loads == ["first", "second"]
    Means().release()
    Means().encode(images)
    assert Means.loads == ["first", "second", "second"]


def test_the_batch_is_not_part_of_the_identity_but_weights_and_preparation_are(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    identity = Means().identity
    assert Means(batch=5, keep="float16").identity == identity
    monkeypatch.setattr(Means, "file", "second")
    assert Means().identity != identity
    monkeypatch.undo()
    monkeypatch.setattr(Means, "preparation", Preparation(None, STD, STD))
    assert Means().identity != identity


def test_gradients_are_not_kept() -> None:
    images = pictures(2, 8, 8)
    with torch.enable_grad():
        assert isinstance(Means().encode(images), np.ndarray)


@pytest.mark.parametrize(
    "images",
    [np.zeros((2, 5), np.float32), np.zeros((2, 8, 8, 4), np.uint8), np.zeros((2, 8, 8), np.uint8)],
    ids=["vectors", "alpha", "no channel"],
)
def test_what_is_no_image_is_refused_with_its_shape(images: np.ndarray) -> None:
    with pytest.raises(ValueError, match=r"'means' takes uint8 images.*got .*shape \(2, "):
        Means().encode(images)


@pytest.mark.gpu
def test_mixed_precision_on_a_gpu_is_close_to_the_cpu_and_survives_overflow() -> None:
    from fidal.encoders.network import forward

    torch.manual_seed(0)
    network = nn.Sequential(nn.Flatten(), nn.Linear(3 * 64, 256), nn.GELU(), nn.Linear(256, 32))
    x = torch.randn(16, 3, 8, 8)
    exact = network(x)
    found = forward(network.cuda(), x.cuda()).cpu()
    assert torch.allclose(found, exact, atol=2e-2) and not torch.equal(found, exact)
    large = 1e6 * x
    assert torch.allclose(forward(network, large.cuda()).cpu(), 1e6 * network.cpu()(x), rtol=0.5)
