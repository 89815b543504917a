import math
from dataclasses import replace

import pytest
import torch
from scipy.special import digamma, gammaln
from torch import Tensor

from fidal.learning.objectives.base import Batch, Context
from fidal.learning.objectives.evidential import Evidential
from fidal.types import OUTLIER, UNLABELLED, Outputs

CONTEXT = Context(torch.tensor([3, 1]), n_outliers=2, round=10, rounds=50)


def loss_of(
    logits: list[list[float]], labels: list[int], context: Context, **fields: float
) -> float:
    outputs = Outputs(torch.tensor(logits, dtype=torch.float64), torch.zeros(len(labels), 4))
    batch = Batch(torch.tensor(labels), torch.arange(len(labels)))
    return Evidential(**fields).loss(outputs, batch, context).item()  # type: ignore[arg-type]


def written_out(
    logits: list[list[float]], labels: list[int], counts: list[int], t: int, weight: float
) -> float:
    """FEAL's loss, term by term, in SciPy."""
    C, n = len(counts), len(labels)
    ce = kl = cor = 0.0
    for row, y in zip(logits, labels, strict=True):
        alpha = [max(z, 0.0) + 1 for z in row]
        S = sum(alpha)
        ce += (2 - counts[y] / sum(counts)) * (digamma(S) - digamma(alpha[y])) / n
        other = [1.0 if c == y else a for c, a in enumerate(alpha)]
        total = sum(other)
        kl += (gammaln(total) - sum(gammaln(a) for a in other) - gammaln(C)) / n
        kl += sum((a - 1) * (digamma(a) - digamma(total)) for a in other) / n
        cor -= C / S * row[y] / n
    return float(ce + weight * (min(1, t / 10) * kl + cor))


def test_the_right_class_by_hand() -> None:
    # Logits (2, 0), class 0: alpha = (3, 1), S = 4. Class weight 2 - 3/4 = 5/4.
    # L_ce = 5/4 (psi(4) - psi(3)) = 5/4 * 1/3; no wrong evidence, so L_kl = 0; L_cor = -2/4 * 2.
    want = 5 / 12 - 0.01
    assert loss_of([[2.0, 0.0]], [0], CONTEXT) == pytest.approx(want)


def test_the_wrong_class_by_hand() -> None:
    # Logits (2, -3), class 1: alpha = alpha~ = (3, 1), S = 4. Class weight 2 - 1/4 = 7/4.
    # L_ce = 7/4 (psi(4) - psi(1)) = 7/4 (1 + 1/2 + 1/3) = 77/24.
    # L_kl = ln(3!/2!) + 2 (psi(3) - psi(4)) = ln 3 - 2/3. L_cor = -2/4 * -3 = 3/2.
    want = 77 / 24 + 0.01 * (math.log(3) - 2 / 3 + 1.5)
    assert loss_of([[2.0, -3.0]], [1], CONTEXT) == pytest.approx(want)


@pytest.mark.parametrize("t", [0, 4, 10, 99])
@pytest.mark.parametrize("weight", [0.01, 1.0])
def test_a_batch_against_the_formula_in_scipy(t: int, weight: float) -> None:
    logits = [[2.0, 0.3, -1.0], [0.5, 4.0, 3.0], [-2.0, -0.1, -5.0], [0.0, 7.5, 1.0]]
    labels, counts = [0, 2, 1, 1], [5, 3, 2]
    context = Context(torch.tensor(counts), n_outliers=0, round=t, rounds=100)
    want = written_out(logits, labels, counts, t, weight)
    assert loss_of(logits, labels, context, kl_weight=weight) == pytest.approx(want)


def test_annealing() -> None:
    wrong, start = [[2.0, 0.0]], replace(CONTEXT, round=0)
    penalty = math.log(3) - 2 / 3
    without = loss_of(wrong, [1], start, annealing=4)
    for t, share in ((1, 0.25), (3, 0.75), (4, 1.0), (40, 1.0)):
        grown = loss_of(wrong, [1], replace(CONTEXT, round=t), annealing=4) - without
        assert grown == pytest.approx(0.01 * share * penalty)


def test_outliers_and_unlabelled_images_do_not_count() -> None:
    known = [[2.0, 0.0], [0.5, 1.0]]
    mixed = [known[0], [9.0, 9.0], known[1], [5.0, -5.0]]
    assert loss_of(mixed, [0, OUTLIER, 1, UNLABELLED], CONTEXT) == pytest.approx(
        loss_of(known, [0, 1], CONTEXT)
    )


def test_zero_and_not_nan_without_id_images() -> None:
    assert loss_of([[2.0, 0.0]], [OUTLIER], CONTEXT) == 0


def test_gradient_with_dead_evidence() -> None:
    # ReLU is flat below zero, so L_ce and L_kl give nothing to the true class; S = 2, and L_cor
    # alone pulls its logit up by lambda C/S = 0.01. The outlier's logits get no gradient.
    logits = torch.tensor([[-1.0, -2.0], [3.0, 1.0]], requires_grad=True)
    batch = Batch(torch.tensor([0, OUTLIER]), torch.arange(2))
    Evidential().loss(Outputs(logits, torch.zeros(2, 4)), batch, CONTEXT).backward()
    assert logits.grad is not None
    assert logits.grad.flatten().tolist() == pytest.approx([-0.01, 0, 0, 0])


def test_gradient_is_that_of_the_formula_but_for_the_detached_strength() -> None:
    # At kl_weight = 0 nothing is detached, and the derivative can be checked numerically.
    batch = Batch(torch.tensor([0, 1]), torch.arange(2))

    def loss(logits: Tensor) -> Tensor:
        outputs = Outputs(logits, torch.zeros(2, 4))
        return Evidential(kl_weight=0).loss(outputs, batch, CONTEXT)

    logits = torch.tensor([[2.0, 0.7], [3.0, 1.0]], dtype=torch.float64, requires_grad=True)
    assert torch.autograd.gradcheck(loss, logits)


@pytest.mark.parametrize("dtype", [torch.float16, torch.float32, torch.float64])
def test_keeps_the_type_of_the_logits(dtype: torch.dtype) -> None:
    outputs = Outputs(torch.tensor([[2.0, -3.0]], dtype=dtype), torch.zeros(1, 4))
    batch = Batch(torch.tensor([1]), torch.arange(1))
    loss = Evidential().loss(outputs, batch, CONTEXT)
    assert loss.dtype == dtype
    assert loss.item() == pytest.approx(77 / 24 + 0.01 * (math.log(3) - 2 / 3 + 1.5), rel=1e-3)


def test_pool_output_is_the_feature_map_on_a_grid_of_nine() -> None:
    # A 6 x 6 map: each of the nine values is the mean of a 2 x 2 patch.
    spatial = torch.arange(2 * 3 * 36, dtype=torch.float64).reshape(2, 3, 6, 6)
    outputs = Outputs(torch.zeros(2, 4), torch.ones(2, 3), spatial=spatial)
    pooled = Evidential().pool_outputs(outputs, None)["spatial"]
    assert pooled.shape == (2, 27)
    assert pooled[0, 0] == pytest.approx((0 + 1 + 6 + 7) / 4)
    assert pooled[1, 26] == pytest.approx(float(spatial[1, 2, 4:, 4:].mean()))
    assert tuple(Evidential().pool_outputs(outputs, None)) == Evidential.outputs


def test_pool_output_without_a_feature_map_is_the_penultimate_layer() -> None:
    outputs = Outputs(torch.zeros(2, 4), torch.rand(2, 7))
    assert torch.equal(Evidential().pool_outputs(outputs, None)["spatial"], outputs.features)
