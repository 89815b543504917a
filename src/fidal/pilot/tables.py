"""The pilot's numbers as rows: for a file, for machines, and for the terminal."""

import csv
import io
from collections.abc import Sequence
from dataclasses import asdict
from typing import Final

from pydantic import JsonValue

from fidal.pilot.histogram import histogram
from fidal.pilot.recommendation import LAMBDA_DIV, Recommendation
from fidal.pilot.scores import Basis, Score, scores
from fidal.pilot.trials import Rates, SiteTrials, Trial

Line = tuple[str, ...]

BASES: Final[tuple[Basis, ...]] = ("labels", "truth")


def csv_of(sites: Sequence[SiteTrials]) -> str:
    """One line per site and gate; empty where a number is not known."""
    out = io.StringIO()
    fields = list(Rates.__dataclass_fields__)
    head = ["site", "density", "threshold", "cut", "refused"]
    writer = csv.writer(out, lineterminator="\n")
    bases = [f"{basis}_{field}" for basis in ("labels", "truth") for field in fields]
    writer.writerow([*head, *bases, "flags"])
    for trial in _trials(sites):
        numbers = [
            getattr(rates, field) if rates else None
            for rates in (trial.known, trial.truth)
            for field in fields
        ]
        start = [trial.site, trial.density, trial.threshold, trial.cut, trial.refused]
        writer.writerow([*start, *numbers, "; ".join(trial.flags)])
    return out.getvalue()


def json_of(
    sites: Sequence[SiteTrials], recommended: Sequence[Recommendation]
) -> dict[str, JsonValue]:
    """All of it, the histograms of G too."""
    return {
        "trials": [asdict(trial) for trial in _trials(sites)],
        "histograms": [
            {"site": site.pool.site, "density": density, "counts": list(histogram(site, density))}
            for site in sites
            for density in site.signals
        ],
        "gates": {
            basis: [{**asdict(score), "cost": score.cost} for score in scores(sites, basis)]
            for basis in BASES
        },
        "recommended": {each.basis: _choice(each) for each in recommended},
    }


def _choice(chosen: Recommendation) -> JsonValue:
    return {
        "density": chosen.score.density,
        "threshold": chosen.score.threshold,
        "suffices": chosen.score.suffices,
        "certain": chosen.score.certain,
        "lambda_ood": list(chosen.lambda_ood),
        "lambda_div": {name: list(ends) for name, ends in LAMBDA_DIV.items()},
        "reason": chosen.reason,
        "toml": chosen.toml,
    }


def gate_lines(sites: Sequence[SiteTrials], basis: Basis) -> tuple[Line, list[Line]]:
    """A header and one line per gate: caught / lost at every site and over all, the cheapest first.
    No line where the basis is missing.
    """
    by_site = {
        (trial.site, trial.density, trial.threshold): trial.known
        if basis == "labels"
        else trial.truth
        for trial in _trials(sites)
    }
    names = [site.pool.site for site in sites]
    header = ("density", "threshold", *names, "all sites", "AUROC", "cost")
    lines = []
    for score in sorted(scores(sites, basis), key=lambda score: score.cost):
        own = [by_site[name, score.density, score.threshold] for name in names]
        area = "–" if score.auroc is None else f"{score.auroc:.3f}"
        lines.append(
            (
                *(score.density, score.threshold, *map(_cell, own)),
                *(pair(score), area, f"{score.cost:.1f}"),
            )
        )
    return header, lines


def auroc_lines(sites: Sequence[SiteTrials]) -> tuple[Line, list[Line]]:
    """A header and one line per density: AUROC by the labels, and in brackets the true one."""
    found: dict[str, dict[str, str]] = {}
    for trial in _trials(sites):
        known, truth = (r.auroc if r else None for r in (trial.known, trial.truth))
        text = "–" if known is None else f"{known:.3f}"
        found.setdefault(trial.density, {})[trial.site] = (
            text if truth is None else f"{text} ({truth:.3f})"
        )
    names = [site.pool.site for site in sites]
    return ("density", *names), [(d, *(of[name] for name in names)) for d, of in found.items()]


def pair(score: Score) -> str:
    """`94 / 2`: caught and lost, in percent."""
    caught = "–" if score.recall is None else f"{100 * score.recall.value:.0f}"
    return f"{caught} / {100 * score.id_loss.value:.0f}"


def _cell(rates: Rates | None) -> str:
    if rates is None:
        return "–"
    caught = f"{100 * rates.caught / rates.outliers:.0f}" if rates.outliers else "–"
    lost = f"{100 * rates.lost / rates.inside:.0f}" if rates.inside else "–"
    return f"{caught} / {lost}"


def _trials(sites: Sequence[SiteTrials]) -> list[Trial]:
    return [trial for site in sites for trial in site.trials]
