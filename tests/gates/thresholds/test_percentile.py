import pytest
import torch

from fidal.gates.thresholds.percentile import Percentile


def refused(share: float, scores: list[float]) -> list[float]:
    cut = Percentile(share=share).cut(torch.tensor(scores), None)
    assert cut is not None
    return sorted(x for x in torch.tensor(scores).tolist() if x < cut)


def test_the_lowest_share_is_refused() -> None:
    assert refused(0.4, [0.9, 0.25, 0.5, 0.75, 0.0]) == [0.0, 0.25]


def test_ties_with_the_cut_are_kept() -> None:
    # Two of five would be 0.0 and one of the three 0.5; which one is nobody's to say.
    assert refused(0.4, [0.5, 0.0, 0.5, 0.5, 0.75]) == [0.0]


def test_no_share_and_constant_scores_refuse_nobody() -> None:
    assert refused(0.0, [0.5, 0.25]) == []
    assert refused(0.9, [0.5] * 7) == []


@pytest.mark.parametrize("percent", range(0, 100, 7))
def test_a_share_of_a_hundred_is_a_count_whatever_the_rounding(percent: int) -> None:
    # 0.29 x 100 is 28.999999999999996 in floating point.
    assert len(refused(percent / 100, [i / 128 for i in range(100)])) == percent
    assert len(refused(0.29, [i / 128 for i in range(100)])) == 29
