"""Against the transforms that the encoders were published with: Pillow and torchvision."""

import numpy as np
import pytest
import torch
from numpy.typing import NDArray
from PIL import Image
from torch import Tensor
from torchvision.transforms import CenterCrop, Compose, InterpolationMode, Resize

from fidal.encoders.biomedclip import PREPARATION as BIOMEDCLIP
from fidal.encoders.panderm import PREPARATION as PANDERM
from fidal.encoders.preparation import Preparation
from tests.encoders.made import pictures

PLAIN = {"mean": (0.0, 0.0, 0.0), "std": (1.0, 1.0, 1.0)}
BICUBIC, BILINEAR = InterpolationMode.BICUBIC, InterpolationMode.BILINEAR


def prepared(preparation: Preparation, images: NDArray[np.uint8]) -> Tensor:
    return preparation(torch.from_numpy(images))


def by_pillow(transform: object, images: NDArray[np.uint8]) -> Tensor:
    """In [0, 1], n x 3 x H x W."""
    done = [np.asarray(transform(Image.fromarray(image))) for image in images]  # type: ignore[operator]
    return torch.from_numpy(np.stack(done)).permute(0, 3, 1, 2) / 255


@pytest.mark.parametrize("shape", [(224, 224), (96, 96), (300, 224), (224, 301), (512, 700)])
@pytest.mark.parametrize(
    ("preparation", "transform"),
    [
        (PANDERM, Compose([Resize(256), CenterCrop(224)])),
        (BIOMEDCLIP, Compose([Resize(224, BICUBIC), CenterCrop(224)])),
        (Preparation(224, **PLAIN), Compose([Resize(224), CenterCrop(224)])),
        (Preparation(64, squash=True, **PLAIN), Resize((64, 64))),
        (
            Preparation(98, edge=112, resample="bicubic", **PLAIN),
            Compose([Resize(112, BICUBIC), CenterCrop(98)]),
        ),
    ],
    ids=["panderm", "biomedclip", "chief", "squash", "timm"],
)
def test_a_grey_level_or_two_from_pillows_here_and_there(
    preparation: Preparation, transform: object, shape: tuple[int, int]
) -> None:
    images = pictures(2, *shape)
    mean, std = (torch.tensor(x)[:, None, None] for x in (preparation.mean, preparation.std))
    found = prepared(preparation, images) * std + mean
    difference = (found - by_pillow(transform, images)).abs() * 255
    assert float(difference.max()) < 2.01 and float(difference.mean()) < 0.1


def test_what_has_the_size_already_is_only_normalised() -> None:
    images = pictures(2, 224, 224)
    found = prepared(Preparation(224, (0.5, 0.4, 0.3), (0.2, 0.25, 0.1)), images)
    mean, std = np.array([0.5, 0.4, 0.3]), np.array([0.2, 0.25, 0.1])
    assert np.allclose(found.permute(0, 2, 3, 1), (images / 255 - mean) / std, atol=1e-5)


def test_each_image_is_stretched_from_its_own_minimum_to_its_own_maximum() -> None:
    images = np.zeros((3, 2, 2, 3), dtype=np.uint8)
    images[0, 0, 0], images[1, 0, 0], images[1, 1, 1] = 50, 100, 200
    images[2] = 77  # flat: black, not 0 / 0
    found = prepared(Preparation(None, (0.3,) * 3, (0.5,) * 3, stretch=True), images)
    assert found[0, :, 0, 0].tolist() == pytest.approx([1.4] * 3)
    assert found[1, 0].flatten().tolist() == pytest.approx([0.4, -0.6, -0.6, 1.4])
    assert found[2].unique().tolist() == pytest.approx([-0.6])


@pytest.mark.parametrize("preparation", [PANDERM, Preparation(None, stretch=True, **PLAIN)])
def test_one_channel_is_three_equal_ones(preparation: Preparation) -> None:
    gray = pictures(2, 300, 240, channels=1)
    found = prepared(preparation, gray)
    assert found.shape[1] == 3
    assert torch.equal(found, prepared(preparation, gray.repeat(3, axis=3)))


def test_rows_do_not_depend_on_one_another() -> None:
    images = pictures(5, 300, 240)
    whole = prepared(PANDERM, images)
    alone = torch.cat([prepared(PANDERM, images[i : i + 1]) for i in range(5)])
    assert torch.equal(whole, alone)
    assert torch.equal(whole, prepared(PANDERM, images))


def test_it_says_what_it_does() -> None:
    assert str(PANDERM) == "224 of 256 (bilinear)"
    assert str(BIOMEDCLIP) == "224 (bicubic)"
    assert str(Preparation(None, **PLAIN)) == "as stored"
