import math

import pytest
import torch

from fidal.learning.augmentation import BRIGHTNESS, CONTRAST, DRAWS, ROTATION, augment


def drawn(n: int, seed: int) -> torch.Tensor:
    return torch.rand(DRAWS, n, generator=torch.Generator().manual_seed(seed))


def test_augmentation_differs_per_image_stays_in_range_and_repeats() -> None:
    one = torch.rand(1, 3, 16, 16, generator=torch.Generator().manual_seed(0))
    images = one.expand(8, -1, -1, -1)
    a = augment(images, drawn(8, seed=1))
    b = augment(images, drawn(8, seed=1))
    assert torch.equal(a, b)
    assert bool(((a >= 0) & (a <= 1)).all())
    assert len({round(float(x.sum()), 3) for x in a}) == 8


def test_augmentation_keeps_a_grey_image_grey_but_for_its_brightness() -> None:
    grey = torch.full((32, 3, 8, 8), 0.5)
    changed = augment(grey, drawn(32, seed=0))
    flat = changed.flatten(1)
    assert torch.allclose(flat, flat[:, :1].expand_as(flat), atol=1e-5)
    assert bool(((flat[:, 0] - 0.5).abs() <= 0.5 * 0.15 + 1e-6).all())
    assert float(flat[:, 0].std()) > 0.02


def test_a_bright_corner_moves_as_flips_and_small_rotations_move_it() -> None:
    images = torch.zeros(64, 3, 9, 9)
    images[:, :, 1, 1] = 1.0
    where = augment(images, drawn(64, seed=0)).mean(1).flatten(1).argmax(1)
    corners = {(1, 1), (1, 7), (7, 1), (7, 7)}
    found = {(int(i) // 9, int(i) % 9) for i in where}
    near = {(r, c) for r, c in found if any(abs(r - a) + abs(c - b) <= 2 for a, b in corners)}
    assert found == near
    assert len({(r > 4, c > 4) for r, c in found}) == 4


def test_contrast_is_taken_around_the_mean_of_each_image() -> None:
    """A checkerboard of large fields: its middle is turned little, so its spread is contrast's."""
    fields = torch.kron(torch.tensor([[0.4, 0.6], [0.6, 0.4]]), torch.ones(32, 32))
    images = fields.expand(40, 3, -1, -1)
    changed = augment(images, drawn(40, seed=3))
    low, high = changed.flatten(1).quantile(0.2, 1), changed.flatten(1).quantile(0.8, 1)
    stretched = (high - low) / 0.2
    assert bool(((stretched >= 1 - CONTRAST - 0.01) & (stretched <= 1 + CONTRAST + 0.01)).all())
    assert float(stretched.max() - stretched.min()) > CONTRAST
    middle = (high + low) / 2
    assert bool(((middle / 0.5 - 1).abs() <= BRIGHTNESS + 0.01).all())


def test_an_image_is_turned_by_at_most_ten_degrees() -> None:
    """A horizontal bar: the slope of its middle line is the tangent of the angle."""
    bar = torch.zeros(1, 3, 65, 65)
    bar[:, :, 30:35] = 1.0
    changed = augment(bar.expand(60, -1, -1, -1), drawn(60, seed=0))[:, 0]
    rows = torch.arange(65.0)[:, None]
    height = (changed * rows).sum(1) / changed.sum(1)
    slope = (height[:, 52] - height[:, 12]) / 40
    angle = slope.atan() * 180 / math.pi
    assert float(angle.abs().max()) == pytest.approx(ROTATION, abs=1)
    assert float(angle.min()) < -ROTATION / 2 < ROTATION / 2 < float(angle.max())
