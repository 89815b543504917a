"""What a reader must know before believing a study: unfinished runs, missing seeds, no numbers."""

from collections.abc import Iterator, Sequence

import numpy as np

from fidal.experiment.records import FEDERATION
from fidal.report.frame import Study
from fidal.report.style import label


def notices_of(study: Study) -> tuple[str, ...]:
    """Sentences, the gravest first."""
    return (
        *_unfinished(study),
        *_missing_seeds(study),
        *_no_number(study),
        *_variants(study),
        *_single_seed(study),
    )


def _unfinished(study: Study) -> Iterator[str]:
    for run in study.runs:
        who = f"{label(run.method)}, seed {run.seed}"
        if run.failure and not run.done:
            yield (
                f"{who} failed after {run.last} of {run.planned} rounds: {run.failure} Its missing "
                "rounds are left blank."
            )
        elif not run.done:
            yield (
                f"{who} has finished {run.last} of {run.planned} rounds: it is still going, or was "
                f"cut (go on with `fidal resume {run.folder}`). Its missing rounds are left blank."
            )
        elif run.last < run.planned:
            yield f"{who} ended after {run.last} of {run.planned} rounds: all pools were exhausted."


def _missing_seeds(study: Study) -> Iterator[str]:
    lacking: dict[tuple[int, ...], list[str]] = {}
    for method in study.methods:
        missing = tuple(seed for seed in study.seeds if study.run(method, seed) is None)
        if missing:
            lacking.setdefault(missing, []).append(label(method))
    for missing, names in lacking.items():
        have, their = ("has", "its") if len(names) == 1 else ("have", "their")
        there = len(study.seeds) - len(missing)
        yield (
            f"{some(names)} {have} no run of seed {', '.join(map(str, missing))}: {their} means "
            f"are over {there} of {len(study.seeds)} seeds and are marked as such."
        )


def _no_number(study: Study) -> Iterator[str]:
    """Rows that are there, but whose score or purity is null."""
    for run in study.runs:
        places = [
            f"{key} of round {found.round} at "
            f"{'the federation' if found.site == FEDERATION else found.site}"
            for found in run.results
            for key in (study.score(found.site), "purity")
            if np.isnan(found.numbers.get(key, np.nan))
        ]
        if places:
            yield (
                f"{label(run.method)}, seed {run.seed}: no number was recorded for "
                f"{some(places)}. It is left blank, and in no mean."
            )


def _variants(study: Study) -> Iterator[str]:
    for shown in study.main:
        strategy = study.strategy(shown)
        own = [m for m in study.methods if study.strategy(m) == strategy]
        if len(own) > 1:
            yield (
                f"{label(strategy)} ran in {len(own)} variants; where strategies are compared, "
                f"'{label(shown)}' stands for it. All variants are in the table of variants."
            )


def _single_seed(study: Study) -> Iterator[str]:
    if len(study.seeds) == 1:
        yield (
            "There is one seed only: how far the numbers would move by chance alone is not known, "
            "and no difference below can be called significant."
        )


def some(names: Sequence[str], most: int = 3) -> str:
    """The first few by name, of the others how many.

    >>> some(["a", "b", "c", "d", "e"])
    'a, b, c and 2 more'
    """
    more = f" and {len(names) - most} more" if len(names) > most else ""
    return ", ".join(names[:most]) + more
