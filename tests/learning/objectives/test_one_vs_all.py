import math

import pytest
import torch

from fidal.learning.objectives.one_vs_all import (
    binary_entropy,
    log_probabilities,
    one_vs_all_loss,
)

# Three samples, K = 2 classes: columns are "not 0", "not 1", "is 0", "is 1".
LOGITS = [[0.1, 1.2, 0.7, -0.5], [0.4, -0.3, 0.2, 0.9], [-1.0, 0.6, 0.8, 0.3]]


def logits() -> torch.Tensor:
    return torch.tensor(LOGITS, dtype=torch.float64, requires_grad=True)


def p_is(row: list[float], c: int) -> float:
    no, yes = math.exp(row[c]), math.exp(row[c + 2])
    return yes / (no + yes)


def test_layout_index_one_says_is_class_c() -> None:
    p = log_probabilities(logits()).exp().detach()
    for i, row in enumerate(LOGITS):
        for c in range(2):
            assert float(p[i, 1, c]) == pytest.approx(p_is(row, c))
            assert float(p[i, 0, c]) == pytest.approx(1 - p_is(row, c))


def test_three_samples_by_hand() -> None:
    # Sample 0 is of class 0, sample 1 of class 1, sample 2 is left out.
    want = sum(
        -math.log(p_is(LOGITS[i], y)) - math.log(1 - p_is(LOGITS[i], 1 - y))
        for i, y in ((0, 0), (1, 1))
    )
    loss = one_vs_all_loss(logits(), torch.tensor([0, 1, -1]))
    assert loss.item() == pytest.approx(want / 2)


def test_only_the_hardest_other_class_counts() -> None:
    # K = 3, all "is" logits 0, "not" logits 0, ln 3, -ln 3: p(not) = 1/2, 3/4, 1/4. Class 0 is
    # the own one: -ln(1/2), and of the others -ln(1/4) alone.
    third = math.log(3)
    x = torch.tensor([[0.0, third, -third, 0.0, 0.0, 0.0]], requires_grad=True)
    loss = one_vs_all_loss(x, torch.tensor([0]))
    assert loss.item() == pytest.approx(math.log(2) + math.log(4), rel=1e-6)
    loss.backward()
    assert x.grad is not None
    assert (x.grad[0] != 0).tolist() == [True, False, True, True, False, True]


def test_gradient_reaches_no_sample_that_is_left_out() -> None:
    x = logits()
    one_vs_all_loss(x, torch.tensor([0, -1, -2])).backward()
    assert x.grad is not None
    assert x.grad[0].abs().min() > 0
    assert torch.equal(x.grad[1:], torch.zeros(2, 4, dtype=torch.float64))


def test_one_class_has_no_other() -> None:
    loss = one_vs_all_loss(torch.zeros(4, 2), torch.zeros(4, dtype=torch.int64))
    assert loss.item() == pytest.approx(math.log(2))


@pytest.mark.parametrize("n", [0, 3])
def test_zero_and_not_nan_without_targets(n: int) -> None:
    assert one_vs_all_loss(logits()[:n], torch.full((n,), -1)).item() == 0


def test_binary_entropy_against_a_loop() -> None:
    for i, row in enumerate(LOGITS):
        h = [-(p * math.log(p) + (1 - p) * math.log(1 - p)) for p in (p_is(row, 0), p_is(row, 1))]
        assert binary_entropy(logits())[i].item() == pytest.approx(sum(h) / 2)
    assert float(binary_entropy(torch.zeros(1, 6))) == pytest.approx(math.log(2))


def test_saturated_heads_give_finite_numbers_and_gradients() -> None:
    x = torch.tensor([[500.0, -500.0, -500.0, 500.0]], requires_grad=True)
    total = binary_entropy(x).sum() + one_vs_all_loss(x, torch.tensor([0]))
    total.backward()
    assert total.item() == pytest.approx(2000)
    assert x.grad is not None and bool(torch.isfinite(x.grad).all())
