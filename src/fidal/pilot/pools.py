"""What a pilot looks at: of each site the labelled warm-up and the rest of its pool."""

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from fidal.data.benchmark import Benchmark
from fidal.data.sites import SiteData, site_data
from fidal.experiment.before import FROM_DATA, needed
from fidal.experiment.config import ConfigError, Experiment
from fidal.experiment.run import loaded
from fidal.site.draws import scored, warm_up
from fidal.site.oracle import GroundTruth
from fidal.types import OUTLIER, UNLABELLED

Rows = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class SitePool:
    """One site after the warm-up round. All embeddings are g(x) of the frozen encoder."""

    site: str
    candidates: Tensor
    """Of the images that nobody has been asked about, n x e."""
    labelled: Tensor
    """L_ID of the warm-up, in the order of its answers, l x e."""
    labels: Tensor
    """Their classes, l."""
    outliers: Tensor
    """L_OOD of the warm-up, m x e."""
    foreign: NDArray[np.bool_] | None
    """Which candidates are OOD in truth, n; None where nobody knows."""


def site_pools(experiment: Experiment, cache: Path) -> list[SitePool]:
    """Where all training images have a label it is a benchmark: B_k of them are drawn and answered
    as in round 0 of a run with this configuration, and the labels of the others are the truth.
    Where some have none, those that have one are the warm-up, and there is no truth.
    """
    benchmark = loaded(needed(experiment.benchmark, experiment.strategy), cache)
    if benchmark.coverage is None:
        raise ConfigError(
            f"a pilot needs the coverage features g(x), and benchmark '{benchmark.name}' as "
            f"configured has none; {FROM_DATA['coverage']}"
        )
    sites = [site_data(benchmark, name) for name in benchmark.manifest.sites]
    budgets = experiment.budgets({data.site: len(data.train) for data in sites})
    return [_pool(experiment, benchmark, data, budgets[data.site]) for data in sites]


def _pool(experiment: Experiment, benchmark: Benchmark, data: SiteData, budget: int) -> SitePool:
    unlabelled = data.labels[data.train] == UNLABELLED
    if unlabelled.all():
        raise ConfigError(
            f"site '{data.site}': none of its {len(data.train)} training images has a label; "
            "label some that are drawn at random, a hundred or so, in the manifest"
        )
    if unlabelled.any():
        asked, unasked = data.train[~unlabelled], data.train[unlabelled]
        answers = data.labels[asked]
    else:
        asked = warm_up(experiment.seed, data.site, data.train, budget)
        unasked = np.setdiff1d(data.train, asked)
        answers = _answers(experiment, data, asked)
    rows = scored(experiment.seed, data.site, 1, unasked, experiment.candidates)
    if len(rows) == 0:
        raise ConfigError(
            f"site '{data.site}': all {len(data.train)} training images are in the warm-up, and "
            "there is nothing left for a gate to judge; lower the budget"
        )
    inside = answers != OUTLIER
    return SitePool(
        site=data.site,
        candidates=_coverage(data, rows),
        labelled=_coverage(data, asked[inside]),
        labels=torch.from_numpy(answers[inside]),
        outliers=_coverage(data, asked[~inside]),
        foreign=None if unlabelled.any() else data.labels[rows] == OUTLIER,
    )


def _answers(experiment: Experiment, data: SiteData, asked: Rows) -> Rows:
    labels = dict(zip(data.ids, data.labels.tolist(), strict=True))
    oracle = GroundTruth(labels, len(data.classes), experiment.oracle_error, experiment.seed)
    ids = [data.ids[row] for row in asked.tolist()]
    answers = oracle.answers(ids)
    return np.array([answers[sample] for sample in ids], dtype=np.int64)


def _coverage(data: SiteData, rows: Rows) -> Tensor:
    assert data.coverage is not None
    return torch.from_numpy(np.asarray(data.coverage[rows]))
