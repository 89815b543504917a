from dataclasses import replace

import torch

from fidal.checks.pools import make_pool
from fidal.neighbours.similarity import unit
from fidal.strategies.representation import representation


def test_the_frozen_encoder_comes_first() -> None:
    pool = make_pool().pool
    assert pool.coverage is not None and pool.labelled.coverage is not None
    candidates, labelled = representation(pool)
    assert torch.equal(candidates, unit(pool.coverage))
    assert torch.equal(labelled, unit(pool.labelled.coverage))


def test_without_an_encoder_the_local_model_stands_in() -> None:
    pool = make_pool().pool
    bare = replace(pool, coverage=None, labelled=replace(pool.labelled, coverage=None))
    candidates, labelled = representation(bare)
    assert torch.equal(candidates, unit(pool.features))
    assert torch.equal(labelled, unit(pool.labelled.features))
