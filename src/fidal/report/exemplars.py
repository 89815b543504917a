"""Which images stand on the sheet of exemplars: by rule, from every site, never by hand."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from fidal.report.album import Album
from fidal.report.evidence import SiteQuery
from fidal.report.style import GREY, ID, LOST, OOD, REFUSED
from fidal.types import OUTLIER, UNLABELLED

ACROSS: Final = 8
"""Images in a row of the sheet."""


@dataclass(frozen=True)
class Kind:
    """One row of the sheet."""

    title: str
    rule: str
    """How its images were chosen, in words."""
    colour: str


EASY = Kind("Queried,\nbelongs: easy", "most like a\nlabelled image", ID)
DIVERSE = Kind("Queried,\nbelongs: new", "least like a\nlabelled image", ID)
FIRST = Kind("Queried,\nbelongs", "first choices", ID)
HARD = Kind("Queried,\nforeign", "mistakes:\nfirst choices", OOD)
CAUGHT = Kind("Refused,\nforeign", "lowest to highest\ncoverage", REFUSED)
MISSED = Kind("Refused,\nbelongs", "mistakes: lowest to\nhighest coverage", LOST)
UNKNOWN = Kind("Refused,\nunknown", "lowest to highest\ncoverage", GREY)

ROWS: Final = (EASY, DIVERSE, FIRST, HARD, CAUGHT, MISSED, UNKNOWN)


@dataclass(frozen=True)
class Exemplar:
    """One image of the sheet."""

    kind: Kind
    site: str
    sample: str
    score: str
    """The number behind the choice, as it is written below the image."""


@dataclass(frozen=True)
class Sheet:
    """All images to be shown. A row may be empty: no mistake is worth saying too."""

    rows: tuple[Kind, ...]
    sites: tuple[str, ...]
    each: int
    """At most so many images per row and site."""
    exemplars: tuple[Exemplar, ...]


def choose(queries: Sequence[SiteQuery], album: Album) -> Sheet:
    """Per row of the sheet and site the same number of images, where there are so many."""
    shown = queries[:ACROSS]
    each = max(1, ACROSS // max(1, len(shown)))
    chosen: list[Exemplar] = []
    for query in shown:
        chosen += _queried(query, each) + _refused(query, each, album)
    chosen.sort(key=lambda exemplar: ROWS.index(exemplar.kind))
    there = {exemplar.kind for exemplar in chosen} | {HARD}
    if any("kept" in query.scores for query in shown):
        there |= {CAUGHT, MISSED}
    rows = tuple(kind for kind in ROWS if kind in there)
    return Sheet(rows, tuple(query.site for query in shown), each, tuple(chosen))


def _queried(query: SiteQuery, each: int) -> list[Exemplar]:
    answers = query.answers
    inside = [sample for sample in query.asked if answers.get(sample, OUTLIER) >= 0]
    outside = [sample for sample in query.asked if answers.get(sample) == OUTLIER]
    like, unlike = _number(query, "similarity_id"), _number(query, "similarity_ood")
    hard = [_exemplar(HARD, query, s, "$S_{OOD}$", unlike) for s in outside[:each]]
    if like is None:
        return [*(_exemplar(FIRST, query, s, "", None) for s in inside[:each]), *hard]
    by_similarity = sorted(inside, key=like)
    easy, diverse = by_similarity[::-1][:each], by_similarity[:each]
    return [
        *(_exemplar(EASY, query, s, "$S_{ID}$", like) for s in easy),
        *(_exemplar(DIVERSE, query, s, "$S_{ID}$", like) for s in diverse),
        *hard,
    ]


def _refused(query: SiteQuery, each: int, album: Album) -> list[Exemplar]:
    coverage = _number(query, "coverage")
    if coverage is None or "kept" not in query.scores:
        return []
    asked = set(query.asked)
    pairs = zip(query.ids, query.scores["kept"], strict=True)
    refused = sorted((s for s, kept in pairs if not kept and s not in asked), key=coverage)
    chosen: list[Exemplar] = []
    for kind, belongs in ((CAUGHT, _is_outlier), (MISSED, _is_inside), (UNKNOWN, _is_unknown)):
        own = [sample for sample in refused if belongs(album.label(sample))]
        places = np.linspace(0, len(own) - 1, min(each, len(own))).round().astype(int)
        chosen += [_exemplar(kind, query, own[place], "$G$", coverage) for place in places]
    return chosen


def _is_outlier(label: int) -> bool:
    return label == OUTLIER


def _is_inside(label: int) -> bool:
    return label >= 0


def _is_unknown(label: int) -> bool:
    return label == UNLABELLED


Number = Callable[[str], float]


def _number(query: SiteQuery, name: str) -> Number | None:
    """The score of that name by image id; None if the strategy has none."""
    if name not in query.scores:
        return None
    table = dict(zip(query.ids, query.scores[name].tolist(), strict=True))
    return table.__getitem__


def _exemplar(
    kind: Kind, query: SiteQuery, sample: str, symbol: str, number: Number | None
) -> Exemplar:
    score = f"{symbol} {number(sample):.2f}" if number else ""
    return Exemplar(kind, query.site, sample, score)
