"""The rows of a run: one per round and site, and one for the federation, whose site is "*"."""

import math
from collections.abc import Callable
from dataclasses import asdict

from pydantic import JsonValue

from fidal.experiment.config import Experiment
from fidal.experiment.metrics import accuracy, balanced_accuracy, pooled, purity, recalls
from fidal.federation.messages import EvaluateReply, GateReport, QueryReply
from fidal.federation.state import RoundResult

KEY = ("run", "round", "site")
FEDERATION = "*"


def rows_of(
    experiment: Experiment, classes: tuple[str, ...], result: RoundResult
) -> list[dict[str, JsonValue]]:
    """In: one round's replies. Out: its rows, sites first."""
    head: dict[str, JsonValue] = {
        "run": experiment.run_name,
        "experiment": experiment.name,
        "benchmark": experiment.benchmark.name,
        "strategy": experiment.strategy.name,
        "seed": experiment.seed,
        "round": result.round,
        "classes": list(classes),
    }
    sites = list(result.evaluated)
    rows = [
        {**head, "site": site, **_site(result.queried[site], result.evaluated[site])}
        for site in sites
    ]
    return [*rows, {**head, "site": FEDERATION, **_federation(result)}]


def _site(queried: QueryReply, evaluated: EvaluateReply) -> dict[str, JsonValue]:
    return {
        "bma": balanced_accuracy(evaluated.confusion),
        "accuracy": accuracy(evaluated.confusion),
        "recall": recalls(evaluated.confusion).tolist(),
        "confusion": [list(row) for row in evaluated.confusion],
        "calibration_error": evaluated.calibration_error,
        "loss": evaluated.loss,
        **_counts([queried]),
        "pool_ood_share": queried.pool_ood_share,
        "gate": asdict(queried.gate) if queried.gate else None,
    }


def _federation(result: RoundResult) -> dict[str, JsonValue]:
    """Mean of sites (A21) and pooled test sets, both named."""
    evaluated = list(result.evaluated.values())
    together = pooled([reply.confusion for reply in evaluated])
    return {
        "bma_mean": _mean([balanced_accuracy(reply.confusion) for reply in evaluated]),
        "bma_pooled": balanced_accuracy(together),
        "accuracy_mean": _mean([accuracy(reply.confusion) for reply in evaluated]),
        "accuracy_pooled": accuracy(together),
        "recall": recalls(together).tolist(),
        "confusion": [list(row) for row in together],
        **_counts(list(result.queried.values())),
        **_pools(list(result.queried.values())),
        "missing": dict(result.missing),
        "privacy": None if result.privacy is None else dict(result.privacy),
    }


def _mean(values: list[float]) -> float:
    """Over the sites that have test images."""
    there = [value for value in values if not math.isnan(value)]
    return sum(there) / len(there) if there else math.nan


def _pools(queried: list[QueryReply]) -> dict[str, JsonValue]:
    """All candidates of the federation together: share of OOD, and what the gates did to them."""
    known = [q for q in queried if q.pool_ood_share is not None]
    ood = {q.site: round((q.pool_ood_share or 0.0) * q.candidates) for q in known}
    gated = [(q, q.gate) for q in known if q.gate is not None]

    def share(of: Callable[[GateReport], float | None], n: dict[str, int]) -> float | None:
        total = sum(n[q.site] for q, _ in gated)
        return sum((of(g) or 0.0) * n[q.site] for q, g in gated) / total if total else None

    inside = {q.site: q.candidates - ood[q.site] for q in known}
    gate: JsonValue = {
        "true_recall": share(lambda g: g.true_recall, ood),
        "true_id_loss": share(lambda g: g.true_id_loss, inside),
    }
    candidates = sum(q.candidates for q in known)
    return {
        "pool_ood_share": sum(ood.values()) / candidates if candidates else None,
        "gate": gate if gated else None,
    }


def _counts(queried: list[QueryReply]) -> dict[str, JsonValue]:
    """This round's answers, and the cumulative labelled pool with its purity."""
    labelled, outliers = sum(q.labelled for q in queried), sum(q.outliers for q in queried)
    return {
        "candidates": sum(q.candidates for q in queried),
        "asked": sum(q.asked for q in queried),
        "answered_id": sum(q.answered_id for q in queried),
        "answered_ood": sum(q.answered_ood for q in queried),
        "filled": sum(q.filled for q in queried),
        "labelled": labelled,
        "outliers": outliers,
        "purity": purity(labelled, outliers),
    }
