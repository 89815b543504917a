"""Each structure does what its name says, on a disc of skin colour. Its strength is how much."""

from collections.abc import Callable

import numpy as np
import pytest

from fidal.data.drawing import structures as s
from fidal.data.drawing.canvas import Canvas
from fidal.data.drawing.lesions import RECIPES
from fidal.data.drawing.outline import Body, Outline, place

Structure = Callable[[Canvas, Body, float], None]

DISC = Outline(size=(0.6, 0.6), elongation=(1, 1), raggedness=(0, 0), edge=(0.05, 0.05))
SKIN = 0.6
BROWN = (s.network, s.globules, s.dots, s.blotch, s.ridges)
RED = (s.vessels, s.lacunae)
PALE = (s.regression, s.scar, s.scale)
BLUE = (s.veil, s.nests)
MIXED = (s.cysts, s.strawberry)
ALL = (*BROWN, *RED, *PALE, *BLUE, *MIXED)
SPREADING = (s.vessels, s.dots, s.cysts, s.nests)
"""Arcs and spots are set near the border, too, and may reach a little over it."""

each = pytest.mark.parametrize("structure", ALL, ids=lambda f: f.__name__)


def drawn(structure: Structure, seed: int, strength: float = 1.0) -> tuple[np.ndarray, Body]:
    """What it changed of even, light grey skin, 3 x H x W; and the lesion that it stands in."""
    canvas = Canvas(64, np.random.default_rng(seed))
    body = place(canvas, DISC)
    canvas.image *= SKIN
    structure(canvas, body, strength)
    return canvas.image - SKIN, body


def colour(structure: Structure) -> np.ndarray:
    """Mean change of red, green and blue."""
    return np.mean([drawn(structure, seed)[0].mean((1, 2)) for seed in range(12)], axis=0)


def test_every_structure_of_the_recipes_is_looked_at_here() -> None:
    used = {structure for recipe in RECIPES.values() for structure in recipe.structures}
    assert used == set(ALL)


@each
def test_without_strength_nothing_is_drawn_and_with_more_of_it_more(structure: Structure) -> None:
    assert np.abs(drawn(structure, 0, strength=0.0)[0]).max() < 1e-6
    for seed in range(3):
        faint, strong = (np.abs(drawn(structure, seed, x)[0]).mean() for x in (0.3, 1.0))
        assert strong > faint > 0


@each
def test_it_stays_in_the_lesion(structure: Structure) -> None:
    for seed in range(6):
        change, body = drawn(structure, seed)
        away = Canvas(64, np.random.default_rng(0)).distance(body.centre)
        reach = 1.6 * 0.6 if structure in SPREADING else 1.05 * 0.6
        assert np.abs(change[:, away > reach]).max() < 1e-6
        assert np.abs(change[:, away < 0.6]).max() > 0.02


@each
def test_it_varies(structure: Structure) -> None:
    fields = [drawn(structure, seed)[0].tobytes() for seed in range(4)]
    assert len(set(fields)) == 4


@pytest.mark.parametrize("structure", BROWN, ids=lambda f: f.__name__)
def test_brown_ones_take_blue_before_green_before_red(structure: Structure) -> None:
    red, green, blue = colour(structure)
    assert blue < green < red < 0


@pytest.mark.parametrize("structure", RED, ids=lambda f: f.__name__)
def test_vessels_and_lakes_take_green_and_let_red_pass(structure: Structure) -> None:
    red, green, blue = colour(structure)
    assert green < blue < red < 0


@pytest.mark.parametrize("structure", PALE, ids=lambda f: f.__name__)
def test_scars_and_scales_are_paler_than_skin(structure: Structure) -> None:
    assert (colour(structure) > 0).all()


@pytest.mark.parametrize("structure", BLUE, ids=lambda f: f.__name__)
def test_what_lies_deep_is_blue(structure: Structure) -> None:
    red, green, blue = colour(structure)
    assert red < green < blue


@pytest.mark.parametrize("structure", MIXED, ids=lambda f: f.__name__)
def test_cysts_and_strawberries_are_light_and_dark_at_once(structure: Structure) -> None:
    for seed in range(4):
        change, _ = drawn(structure, seed)
        grey = change.mean(0)
        assert grey.min() < -0.05 and grey.max() > 0.05


def test_a_network_and_its_globules_are_each_other_s_negative() -> None:
    """The lines of the honeycomb take more of the area than its holes."""
    covered = {
        f: np.mean([(drawn(f, seed)[0][2] < -0.1).mean() for seed in range(12)])
        for f in (s.network, s.globules)
    }
    assert covered[s.network] > 1.3 * covered[s.globules]


def test_a_scar_is_in_the_middle_and_a_blotch_has_no_fixed_place() -> None:
    def middle(structure: Structure) -> list[bool]:
        found = []
        for seed in range(10):
            change, body = drawn(structure, seed)
            away = Canvas(64, np.random.default_rng(0)).distance(body.centre)
            grey = np.abs(change).mean(0)
            found.append(bool(grey[away < 0.12].mean() > 0.9 * grey.max()))
        return found

    assert all(middle(s.scar))
    assert not all(middle(s.blotch))


def test_dots_are_a_handful() -> None:
    """Black on grey: 4 to 15 spots of radius 0.015 to 0.05 cover at most some hundredths."""
    covered = [(drawn(s.dots, seed)[0][2] < -0.2).mean() for seed in range(20)]
    assert 0.0005 < np.mean(covered) < 0.03


def test_vessels_branch_from_the_border_inwards() -> None:
    for seed in range(6):
        change, body = drawn(s.vessels, seed)
        red = change[1] < -0.1
        away = Canvas(64, np.random.default_rng(0)).distance(body.centre)
        assert red[(away > 0.35) & (away < 0.6)].any() and red[away < 0.35].any()
        assert 0.005 < red.mean() < 0.3
