"""What the sites of an in-process run kept for themselves: queries with all scores, predictions."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fidal.report.frame import RunRows
from fidal.report.spread import Floats
from fidal.rows import read
from fidal.site.reporting import PREDICTIONS
from fidal.storage import load_state


@dataclass(frozen=True, eq=False)
class SiteQuery:
    """One site's query."""

    site: str
    round: int
    ids: tuple[str, ...]
    """The candidates; empty if the strategy gave no scores."""
    scores: Mapping[str, Floats]
    """Each |U| in the order of `ids`; "kept" is 1 or 0 where there was a gate."""
    cut: float
    """The gate's threshold on the coverage G; NaN without a gate."""
    asked: tuple[str, ...]
    """Best first."""
    answers: Mapping[str, int]
    """Of those of the asked that were answered: a class or OUTLIER."""


def last_queries(run: RunRows) -> tuple[SiteQuery, ...]:
    """Of each site the last query after the warm-up; sites without one are left out."""
    asked = {site: [row for row in _rows(run, site) if row["round"] > 0] for site in run.sites}
    return tuple(_query(run, site, rows[-1]) for site, rows in asked.items() if rows)


def first_queries(run: RunRows) -> tuple[tuple[SiteQuery, SiteQuery], ...]:
    """Of each site the warm-up and the query after it; sites that lack one are left out."""
    asked = {site: {row["round"]: row for row in _rows(run, site)} for site in run.sites}
    return tuple(
        (_query(run, site, rows[0]), _query(run, site, rows[1]))
        for site, rows in asked.items()
        if 0 in rows and 1 in rows
    )


@dataclass(frozen=True, eq=False)
class Predictions:
    """What the global model of one round made of one site's test images."""

    round: int
    ids: str
    """One per line, as in the file: equal texts are told apart faster than many ids."""
    predicted: NDArray[np.int64]
    """Classes, in the order of the ids."""


def predictions(run: RunRows, site: str) -> Predictions | None:
    """Of the last evaluated round; None if the site kept none."""
    file = run.folder / "sites" / site / PREDICTIONS
    if not file.exists():
        return None
    tensors, meta = load_state(file)
    predicted = tensors["predicted"].numpy().astype(np.int64)
    return Predictions(int(meta["round"]), meta["ids"], predicted)


def _rows(run: RunRows, site: str) -> list[dict[str, Any]]:
    """One row per query in which anything was asked."""
    file = run.folder / "sites" / site / "queries.jsonl"
    rows = read(file) if file.exists() else []
    return [dict(row) for row in rows if row["ids"]]


def _query(run: RunRows, site: str, row: Mapping[str, Any]) -> SiteQuery:
    round = int(row["round"])
    scores, ids = _scores(run.folder / "sites" / site / f"scores-{round}.safetensors")
    answers = zip(row["ids"], row["answers"], strict=True)
    return SiteQuery(
        site=site,
        round=round,
        ids=ids,
        scores=scores,
        cut=_cut(run, site, round),
        asked=tuple(row["ids"]),
        answers={sample: label for sample, label in answers if label is not None},
    )


def _scores(file: Path) -> tuple[dict[str, Floats], tuple[str, ...]]:
    if not file.exists():
        return {}, ()
    tensors, meta = load_state(file)
    scores = {name: tensor.double().numpy().astype(np.float64) for name, tensor in tensors.items()}
    return scores, tuple(meta["ids"].split("\n"))


def _cut(run: RunRows, site: str, round: int) -> float:
    for found in run.results:
        if found.site == site and found.round == round:
            return found.numbers.get("gate.cut", float("nan"))
    return float("nan")
