"""What the sites of an in-process run kept for themselves: their last query, with all scores."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from fidal.report.frame import RunRows
from fidal.report.spread import Floats
from fidal.rows import read
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


def site_queries(run: RunRows) -> tuple[SiteQuery, ...]:
    """Of each site the last query after the warm-up; sites without one are left out."""
    found = []
    for site in dict.fromkeys(result.site for result in run.results):
        folder = run.folder / "sites" / site
        file = folder / "queries.jsonl"
        rows: list[dict[str, Any]] = [dict(row) for row in read(file)] if file.exists() else []
        queries = [row for row in rows if row["round"] > 0 and row["ids"]]
        if not queries:
            continue
        last = queries[-1]
        scores, ids = _scores(run, site, int(last["round"]))
        answers = zip(last["ids"], last["answers"], strict=True)
        found.append(
            SiteQuery(
                site=site,
                round=int(last["round"]),
                ids=ids,
                scores=scores,
                cut=_cut(run, site, int(last["round"])),
                asked=tuple(last["ids"]),
                answers={sample: label for sample, label in answers if label is not None},
            )
        )
    return tuple(found)


def _scores(run: RunRows, site: str, round: int) -> tuple[dict[str, Floats], tuple[str, ...]]:
    file = run.folder / "sites" / site / f"scores-{round}.safetensors"
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
