import numpy as np
import pytest
import torch

from fidal.checks.pools import make_pool
from fidal.gates.densities.diagonal import DiagonalGaussian
from fidal.gates.thresholds.otsu import Otsu
from fidal.strategies.fidal import Fidal
from fidal.strategies.fidal_paper import FidalPaper
from fidal.uncertainty import aleatoric, dirichlet, epistemic_literal


def test_it_is_fidal_with_every_choice_literal() -> None:
    paper = FidalPaper()
    assert (paper.support, paper.epistemic, paper.activation) == ("literal", "literal", "relu")
    assert (paper.lambda_div, paper.lambda_ood, paper.lambda_rare) == (0.5, 0.5, 0.0)
    assert (paper.coverage_weight, paper.batch, paper.neighbour_sample) == (True, "top", None)
    gate = paper.gate
    assert gate is not None and not gate.normalise and gate.tail is None
    assert gate.density == DiagonalGaussian(variance_floor=0.0) and gate.threshold == Otsu()
    choices = {name: getattr(paper, name) for name in Fidal.model_fields}
    spelled_out = Fidal.model_validate(choices)
    pool, rng = make_pool(dtype=torch.float64).pool, np.random.default_rng
    assert paper.select(pool, 25, rng(0)).ids == spelled_out.select(pool, 25, rng(0)).ids


def test_its_uncertainty_is_eq_3_as_printed_and_never_positive() -> None:
    pool = make_pool(dtype=torch.float64).pool
    ours, theirs = dirichlet(pool.global_logits, "relu"), dirichlet(pool.local_logits, "relu")
    want = (aleatoric(ours) + aleatoric(theirs)) * epistemic_literal(ours)
    found = FidalPaper().select(pool, 5, np.random.default_rng(0)).scores["uncertainty"]
    assert found.tolist() == pytest.approx(want.tolist())
    assert bool((found <= 0).all())
