import numpy as np
import pytest

from fidal.data.drawing.canvas import Canvas
from fidal.data.drawing.lesions import CLASSES, RECIPES, lesion


def drawn(label: str, seed: int, zoom: float = 1.0) -> Canvas:
    canvas = Canvas(64, np.random.default_rng(seed))
    lesion(canvas, label, zoom)
    return canvas


def test_there_are_eight_classes() -> None:
    assert len(CLASSES) == len(set(CLASSES)) == 8


@pytest.mark.parametrize("label", CLASSES)
def test_a_lesion_changes_the_middle_and_stays_finite(label: str) -> None:
    for seed in range(20):
        image = drawn(label, seed).image
        assert np.isfinite(image).all() and image.min() >= 0
        assert image[:, 12:52, 12:52].mean() < 0.99


def test_pigmented_classes_are_brown_and_vascular_ones_red() -> None:
    """Blood lets red pass; melanin dims it too."""
    red = {c: np.mean([drawn(c, s).image[0].mean() for s in range(40)]) for c in CLASSES}
    assert max(red["reticular"], red["atypical"]) < min(red["scaly"], red["arborising"])


def test_classes_overlap_in_structures() -> None:
    owners = [f for recipe in RECIPES.values() for f in recipe.structures]
    shared = {f for f in owners if owners.count(f) > 1}
    assert all(shared & set(recipe.structures) for recipe in RECIPES.values())
    for recipe in RECIPES.values():
        assert all(0 < chance < 1 for chance in recipe.structures.values())


def test_zoom_enlarges() -> None:
    covered = [np.mean([(drawn("globular", s, z).image[2] < 0.9).mean() for s in range(20)])
               for z in (0.5, 1.0, 1.5)]  # fmt: skip
    assert covered == sorted(covered) and covered[2] > 2 * covered[0]
