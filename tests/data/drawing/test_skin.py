import numpy as np
import pytest

from fidal.data.drawing.canvas import Canvas
from fidal.data.drawing.skin import hairs, skin


def canvas(seed: int) -> Canvas:
    return Canvas(64, np.random.default_rng(seed))


def bare(seed: int) -> np.ndarray:
    drawn = canvas(seed)
    skin(drawn)
    return drawn.image


def hairy(seed: int, most: int = 9) -> np.ndarray:
    """Hairs on a white sheet: share of blue light that they take, H x W."""
    drawn = canvas(seed)
    hairs(drawn, most)
    return 1 - drawn.image[2]


@pytest.mark.parametrize("seed", range(8))
def test_skin_is_a_warm_tone_and_smooth(seed: int) -> None:
    image = bare(seed)
    red, green, blue = image.mean((1, 2))
    assert red > green > 0 and red > blue > 0
    assert 0 < image.min() and image.max() <= 1
    assert np.abs(np.diff(image, axis=2)).mean() < 0.02


def test_people_differ_in_tone() -> None:
    brightness = [bare(seed).mean() for seed in range(40)]
    assert max(brightness) - min(brightness) > 0.15


def test_three_skins_in_ten_have_freckles_which_are_small_dark_spots(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    asked: list[float] = []
    drawn = {}
    for freckled in (False, True):
        monkeypatch.setattr(Canvas, "chance", lambda _, p, x=freckled: asked.append(p) or x)
        drawn[freckled] = np.stack([bare(seed) for seed in range(12)])
    assert set(asked) == {0.3}
    darker = drawn[False] - drawn[True]
    assert darker.min() >= 0 and darker.max() > 0.1
    assert 0.005 < (darker[:, 2] > 0.02).mean() < 0.2


@pytest.mark.parametrize("seed", range(8))
def test_hairs_only_darken_and_are_thin(seed: int) -> None:
    taken = hairy(seed)
    assert taken.min() >= 0 and taken.max() > 0.2
    assert (taken > 0.1).mean() < 0.4


def test_there_is_at_least_one_hair_and_more_where_more_may_be() -> None:
    one = np.array([(hairy(seed, most=1) > 0.1).mean() for seed in range(20)])
    many = np.array([(hairy(seed, most=20) > 0.1).mean() for seed in range(20)])
    assert (one > 0).mean() > 0.8  # a hair may lie outside the image
    assert many.mean() > 4 * one.mean()


def test_hairs_grow_roughly_in_one_direction() -> None:
    """The structure tensor of parallel lines has one eigenvalue, that of a tangle has two."""

    def coherence(image: np.ndarray) -> float:
        down, right = np.gradient(image)
        tensor = [[(a * b).sum() for a in (down, right)] for b in (down, right)]
        low, high = np.linalg.eigvalsh(tensor)
        return float((high - low) / (high + low))

    one_head = np.mean([coherence(hairy(seed)) for seed in range(20)])
    several = [np.maximum.reduce([hairy(9 * s + k, most=2) for k in range(9)]) for s in range(5)]
    assert one_head > 0.5 > np.mean([coherence(image) for image in several])
