from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch
from numpy.typing import NDArray

from fidal.checks import ContractError, check_secrecy
from fidal.data.benchmark import PromptScores
from fidal.learning.networks import build
from fidal.learning.trainer import make_learner
from fidal.site.knowledge import Knowledge
from fidal.site.pooling import make_pool
from fidal.site.site import Site
from fidal.strategies import STRATEGIES
from fidal.types import OUTLIER, Pool
from tests.site.clinic import make_site

CANDIDATES = np.array([1, 4, 5, 9, 11])
LABELLED, OUTLIERS = np.array([7, 3, 2]), np.array([8, 0])


def pool_of(site: Site, candidates: NDArray[np.int64] = CANDIDATES) -> Pool:
    objective = site.setup.strategy.objective
    ours, theirs = (
        build(site.setup.architecture, site.feed.shape, 4, objective, seed) for seed in (1, 2)
    )
    learner = make_learner(ours, objective, site.setup.training)
    known = Knowledge(
        LABELLED, np.array([2, 0, 1]), np.array([True, False, True]), OUTLIERS, candidates
    )
    return make_pool(site.data, known, candidates, theirs, learner, site.feed, 3)


@pytest.fixture
def site(tmp_path: Path) -> Site:
    return make_site(tmp_path)


def test_every_array_is_of_the_rows_that_it_says(site: Site) -> None:
    """The probe's features are the inputs themselves, so rows can be told by their values."""
    x = torch.from_numpy(site.data.inputs)
    pool = pool_of(site)
    assert pool.ids == tuple(site.data.ids[row] for row in CANDIDATES)
    assert (pool.site, pool.round) == ("east", 3)
    assert torch.equal(pool.features, x[CANDIDATES])
    assert torch.equal(pool.labelled.features, x[LABELLED])
    assert torch.equal(pool.outliers.features, x[OUTLIERS])
    for part, rows in (
        (pool.coverage, CANDIDATES),
        (pool.labelled.coverage, LABELLED),
        (pool.outliers.coverage, OUTLIERS),
    ):
        assert part is not None and torch.equal(part, x[rows])
    assert pool.labelled.labels.tolist() == [2, 0, 1]
    assert pool.labelled.random_draw is not None
    assert pool.labelled.random_draw.tolist() == [True, False, True]


def test_local_and_global_logits_are_of_the_model_that_they_name(site: Site) -> None:
    x = torch.from_numpy(site.data.inputs)[CANDIDATES]
    pool = pool_of(site)
    for seed, logits in ((1, pool.local_logits), (2, pool.global_logits)):
        net = build(site.setup.architecture, (8,), 4, site.setup.strategy.objective, seed)
        assert torch.allclose(logits, net(x).logits, atol=1e-6)


def test_prompts_are_those_of_the_candidates(site: Site) -> None:
    n = len(site.data.ids)
    scores = np.arange(2 * n, dtype=np.float32).reshape(n, 2)
    site.data = replace(site.data, prompts=PromptScores(scores, (True, False)))
    prompts = pool_of(site).prompts
    assert prompts is not None and prompts.in_distribution == (True, False)
    assert prompts.logits.tolist() == scores[CANDIDATES].tolist()


def test_what_the_site_does_not_have_is_none(site: Site) -> None:
    site.data = replace(site.data, coverage=None)
    pool = pool_of(site)
    assert pool.coverage is None and pool.labelled.coverage is None and pool.prompts is None


@pytest.mark.parametrize("strategy", ["pal", "eoal", "lfosa"])
def test_outputs_of_extra_heads_are_one_row_per_candidate(strategy: str, tmp_path: Path) -> None:
    pool = pool_of(make_site(tmp_path, strategy))
    assert set(pool.outputs) == set(STRATEGIES[strategy]().objective.outputs)
    assert all(len(x) == len(CANDIDATES) for x in pool.outputs.values())


@pytest.mark.parametrize("strategy", ["random", "feal", "pal", "eoal", "lfosa"])
def test_no_label_of_a_candidate_can_be_reached(strategy: str, tmp_path: Path) -> None:
    site = make_site(tmp_path, strategy)
    rows = site.data.train[12:]
    pool, truth = pool_of(site, rows), torch.from_numpy(site.data.labels[rows])
    assert set(truth.tolist()) == {OUTLIER, 0, 1, 2, 3}
    check_secrecy(pool, truth)
    check_secrecy(pool, truth == OUTLIER)
    site.data = replace(site.data, coverage=site.data.labels[:, None].astype(np.float32))
    with pytest.raises(ContractError, match=r"tells the labels in pool\.coverage"):
        check_secrecy(pool_of(site, rows), truth)


def test_a_site_without_any_label_has_an_empty_set_of_the_right_width(site: Site) -> None:
    objective = site.setup.strategy.objective
    net = build(site.setup.architecture, site.feed.shape, 4, objective, 1)
    none = np.zeros(0, dtype=np.int64)
    known = Knowledge(none, none, none.astype(bool), none, CANDIDATES)
    learner = make_learner(net, objective, site.setup.training)
    pool = make_pool(site.data, known, CANDIDATES, net, learner, site.feed, 1)
    assert pool.labelled.features.shape == pool.outliers.features.shape == (0, 8)
