"""A contact sheet: for each site a strip of ID images and a strip of outliers, with their words."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageDraw, ImageFont

from fidal.data.benchmark import TRAIN, Manifest
from fidal.data.injection import random_order
from fidal.types import OUTLIER, UNLABELLED

HEIGHT: Final = 128
"""Of a thumbnail, in pixels."""
GAP, LINE, MARGIN = 8, 20, 16
STRIP: Final = HEIGHT + LINE + GAP
INK, FAINT, PAPER = (20, 20, 20), (110, 110, 110), (255, 255, 255)
FONT: Final = ImageFont.load_default(13)


@dataclass(frozen=True)
class Strip:
    """Some images of one kind at one site."""

    title: str
    rows: Sequence[int]


def contact_sheet(
    manifest: Manifest, pixels: NDArray[np.uint8], each: int = 8, seed: int = 0
) -> Image.Image:
    """`each` images per strip, at random, classes and kinds of outliers taking turns."""
    words = _words(manifest)
    strips = [
        strip for site in manifest.sites for strip in _strips(manifest, words, site, each, seed)
    ]
    width = round(HEIGHT * pixels.shape[2] / pixels.shape[1])
    across, down = each * (width + GAP) - GAP, len(strips) * (LINE + STRIP)
    sheet = Image.new("RGB", (across + 2 * MARGIN, down + 2 * MARGIN), PAPER)
    draw = ImageDraw.Draw(sheet)
    for number, strip in enumerate(strips):
        top = MARGIN + number * (LINE + STRIP)
        draw.text((MARGIN, top), strip.title, INK, FONT)
        for place, row in enumerate(strip.rows):
            left = MARGIN + place * (width + GAP)
            sheet.paste(_thumbnail(pixels[row], width), (left, top + LINE))
            word = _shortened(words[row], width)
            draw.text((left, top + LINE + HEIGHT + 1), word, FAINT, FONT)
    return sheet


def _strips(
    manifest: Manifest, words: Sequence[str], site: str, each: int, seed: int
) -> list[Strip]:
    here, train = manifest.site == site, manifest.split == TRAIN
    known, outlier = here & (manifest.label != OUTLIER), here & (manifest.label == OUTLIER)
    images = f"{(known & train).sum():,} training and {(known & ~train).sum():,} test images"
    return [
        Strip(f"{site}: {images}", _turns(manifest, words, known, each, seed)),
        Strip(f"{site}: {outlier.sum():,} OOD", _turns(manifest, words, outlier, each, seed)),
    ]


def _turns(
    manifest: Manifest, words: Sequence[str], among: NDArray[np.bool_], each: int, seed: int
) -> list[int]:
    """The first of each word, then the second of each, ...: rare classes are seen too."""
    rows = np.flatnonzero(among).tolist()
    order = [rows[i] for i in random_order((manifest.ids[row] for row in rows), seed)]
    seen: dict[str, int] = {}
    turn = {}
    for row in order:
        turn[row] = seen[words[row]] = seen.get(words[row], -1) + 1
    chosen = sorted(order, key=lambda row: (turn[row], words[row]))[:each]
    return sorted(chosen, key=lambda row: words[row])


def _words(manifest: Manifest) -> list[str]:
    """What each image shows: its class, or the kind of outlier if the manifest tells it."""
    kinds = manifest.columns.get("kind")
    names = {OUTLIER: "OOD", UNLABELLED: "?"} | dict(enumerate(manifest.classes))
    words = [names[label] for label in manifest.label.tolist()]
    if kinds is None:
        return words
    told = zip(words, manifest.label.tolist(), kinds.tolist(), strict=True)
    return [kind if label == OUTLIER else word for word, label, kind in told]


def _thumbnail(image: NDArray[np.uint8], width: int) -> Image.Image:
    colour = np.broadcast_to(image, (*image.shape[:2], 3))
    return Image.fromarray(np.ascontiguousarray(colour)).resize((width, HEIGHT))


def _shortened(word: str, width: int) -> str:
    """As much of the word as stands below a thumbnail."""
    if FONT.getlength(word) <= width:
        return word
    while word and FONT.getlength(f"{word}…") > width:
        word = word[:-1]
    return f"{word}…"
