import numpy as np
import pytest
import torch
from torch import Tensor

from fidal.gates.thresholds import THRESHOLDS
from fidal.gates.thresholds.base import Threshold, ascending


class Fixed(Threshold):
    name = "fixed"

    def cut(self, scores: Tensor, null: Tensor | None) -> float | None:
        return 0.5


def test_scores_are_sorted_in_float64_and_the_pool_keeps_its_own() -> None:
    scores = torch.tensor([0.75, 0.0, 1.0, 0.25], requires_grad=True)
    found = ascending(scores)
    assert found.dtype == np.float64 and found.tolist() == [0.0, 0.25, 0.75, 1.0]
    found[:] = 9
    assert scores.tolist() == [0.75, 0.0, 1.0, 0.25]
    assert len(ascending(scores[:0])) == 0


def test_a_threshold_of_ones_own_needs_a_cut_and_no_more() -> None:
    assert not Fixed.needs_null and Fixed().caution(3) == ()


def mixture(n: int = 400) -> Tensor:
    rng = np.random.default_rng(0)
    low, high = rng.normal(0.2, 0.05, n // 4), rng.normal(0.7, 0.08, n - n // 4)
    return torch.from_numpy(np.concatenate([low, high]).clip(0, 1))


@pytest.mark.parametrize("name", THRESHOLDS)
def test_no_cut_depends_on_the_order_of_the_scores(name: str) -> None:
    scores, null = mixture(), mixture()[100:220]
    shuffled = scores[torch.randperm(400, generator=torch.Generator().manual_seed(1))]
    threshold = THRESHOLDS[name]()
    assert threshold.cut(shuffled, null.flip(0)) == threshold.cut(scores, null)


@pytest.mark.parametrize("name", THRESHOLDS)
def test_only_those_that_say_so_refuse_nobody_without_a_null(name: str) -> None:
    threshold = THRESHOLDS[name]()
    assert (threshold.cut(mixture(), None) is None) == threshold.needs_null


@pytest.mark.parametrize("name", THRESHOLDS)
def test_a_cut_parts_the_scores_and_leaves_them_as_they_are(name: str) -> None:
    scores, null = mixture(), mixture()[100:220]
    before = scores.clone()
    cut = THRESHOLDS[name]().cut(scores, null)
    assert cut is not None and scores.min() < cut < scores.max()
    assert torch.equal(scores, before)
