"""The eight classes as recipes: outline, pigment, and which structures at what chance.

They take after dermoscopic patterns, but they are drawings, not data: nothing that is learnt on
them says anything about skin. They overlap on purpose. Every structure occurs in several classes,
an early lesion has little of what its class is known for, and any lesion may carry one structure
that belongs to another.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Final

import numpy as np

from fidal.data.drawing import structures as s
from fidal.data.drawing.canvas import BLOOD, MELANIN, Canvas, Range
from fidal.data.drawing.outline import Body, Outline, place

Structure = Callable[[Canvas, Body, float], None]


@dataclass(frozen=True)
class Recipe:
    """What a lesion of one class is made of."""

    outline: Outline
    melanin: Range
    """Density of the brown ground."""
    blood: Range
    """Density of the red ground."""
    patchiness: Range
    """How unevenly the ground is spread, 0 = evenly."""
    structures: Mapping[Structure, float]
    """Each with its chance to occur."""


_ROUND: Final = Outline(
    size=(0.3, 0.7), elongation=(1, 1.5), raggedness=(0.05, 0.3), edge=(0.15, 0.4)
)

RECIPES: Final[Mapping[str, Recipe]] = {
    "reticular": Recipe(
        _ROUND,
        melanin=(0.35, 1.0),
        blood=(0, 0.2),
        patchiness=(0.1, 0.5),
        structures={s.network: 0.85, s.globules: 0.2, s.blotch: 0.25, s.dots: 0.15},
    ),
    "globular": Recipe(
        _ROUND,
        melanin=(0.3, 1.0),
        blood=(0, 0.35),
        patchiness=(0.1, 0.4),
        structures={s.globules: 0.9, s.network: 0.15, s.dots: 0.25, s.blotch: 0.2},
    ),
    "keratotic": Recipe(
        Outline(size=(0.35, 0.8), elongation=(1, 1.7), raggedness=(0.05, 0.35), edge=(0.05, 0.25)),
        melanin=(0.3, 0.9),
        blood=(0, 0.25),
        patchiness=(0.2, 0.6),
        structures={s.cysts: 0.7, s.ridges: 0.65, s.network: 0.15, s.scale: 0.25, s.veil: 0.1},
    ),
    "atypical": Recipe(
        Outline(
            (0.35, 0.8), elongation=(1, 1.8), raggedness=(0.2, 0.6), edge=(0.08, 0.35), lobes=0.6
        ),
        melanin=(0.4, 1.1),
        blood=(0, 0.35),
        patchiness=(0.3, 0.8),
        structures={
            s.network: 0.55,
            s.globules: 0.3,
            s.dots: 0.5,
            s.blotch: 0.6,
            s.veil: 0.5,
            s.regression: 0.4,
        },
    ),
    "scaly": Recipe(
        Outline(size=(0.4, 0.9), elongation=(1, 1.8), raggedness=(0.2, 0.6), edge=(0.3, 0.7)),
        melanin=(0, 0.25),
        blood=(0.15, 0.5),
        patchiness=(0.2, 0.6),
        structures={s.strawberry: 0.8, s.scale: 0.6, s.vessels: 0.15, s.dots: 0.1},
    ),
    "arborising": Recipe(
        Outline(size=(0.3, 0.75), elongation=(1, 1.6), raggedness=(0.1, 0.4), edge=(0.2, 0.5)),
        melanin=(0, 0.3),
        blood=(0.1, 0.45),
        patchiness=(0.1, 0.5),
        structures={s.vessels: 0.75, s.nests: 0.6, s.scale: 0.2, s.regression: 0.3, s.dots: 0.15},
    ),
    "fibrous": Recipe(
        Outline(size=(0.3, 0.65), elongation=(1, 1.3), raggedness=(0.05, 0.25), edge=(0.3, 0.6)),
        melanin=(0.15, 0.5),
        blood=(0, 0.35),
        patchiness=(0.1, 0.4),
        structures={s.scar: 0.85, s.network: 0.6, s.strawberry: 0.1},
    ),
    "lacunar": Recipe(
        Outline(size=(0.2, 0.6), elongation=(1, 1.5), raggedness=(0.05, 0.3), edge=(0.08, 0.3)),
        melanin=(0, 0.35),
        blood=(0.3, 1.0),
        patchiness=(0.1, 0.4),
        structures={s.lacunae: 0.8, s.veil: 0.2, s.blotch: 0.15, s.scale: 0.1},
    ),
}
"""In the order of their class indices."""

CLASSES: Final = tuple(RECIPES)
STRAY: Final = 0.2
"""Chance of one structure that belongs to another class."""
_ALL: Final = tuple({f: None for recipe in RECIPES.values() for f in recipe.structures})


def lesion(canvas: Canvas, label: str, zoom: float = 1.0) -> None:
    """Draw one lesion of the class `label` on the skin that is there."""
    recipe = RECIPES[label]
    body = place(canvas, recipe.outline, zoom)
    uneven = np.clip(1 + canvas.between(recipe.patchiness) * canvas.noise(5), 0.1, 3)
    canvas.stain(canvas.between(recipe.melanin) * body.inside * uneven, MELANIN)
    canvas.stain(canvas.between(recipe.blood) * body.inside * uneven, BLOOD)
    expression = canvas.between((0.35, 1.0))
    for structure, chance in recipe.structures.items():
        if canvas.chance(chance):
            structure(canvas, body, expression * canvas.between((0.6, 1.0)))
    if canvas.chance(STRAY):
        stray = _ALL[int(canvas.rng.integers(len(_ALL)))]
        stray(canvas, body, expression * canvas.between((0.4, 0.8)))
