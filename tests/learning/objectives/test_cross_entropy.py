import math

import pytest
import torch

from fidal.learning.objectives.base import Batch, Context
from fidal.learning.objectives.cross_entropy import (
    CrossEntropy,
    class_weights,
    classification_loss,
)
from fidal.types import OUTLIER, UNLABELLED, Outputs

CONTEXT = Context(torch.tensor([3, 1, 0]), n_outliers=2, round=0, rounds=1)
ROWS = [[0.0, math.log(2), math.log(5)], [1.0, 0.0, 0.0], [0.5, 0.5, 9.0]]


def logits() -> torch.Tensor:
    return torch.tensor(ROWS, dtype=torch.float64, requires_grad=True)


def test_class_weights_by_hand() -> None:
    # Shares 3/4, 1/4 and 0.
    assert class_weights(CONTEXT).tolist() == [1.25, 1.75, 2.0]


def test_class_weights_of_a_site_without_labels() -> None:
    empty = Context(torch.zeros(3), n_outliers=0, round=0, rounds=1)
    assert class_weights(empty).tolist() == [2.0, 2.0, 2.0]


def test_three_samples_by_hand() -> None:
    # Softmax of (0, ln 2, ln 5) is (1, 2, 5)/8. Labels: class 1, class 0, and an outlier.
    first = -math.log(2 / 8)
    second = -math.log(math.e / (math.e + 2))
    labels = torch.tensor([1, 0, OUTLIER])
    weighted = classification_loss(logits(), labels, CONTEXT)
    assert weighted.item() == pytest.approx((1.75 * first + 1.25 * second) / 2)
    plain = classification_loss(logits(), labels, CONTEXT, weighted=False)
    assert plain.item() == pytest.approx((first + second) / 2)


@pytest.mark.parametrize("weighting", ["inverse-share", "none"])
def test_the_objective_is_that_loss(weighting: str) -> None:
    batch = Batch(torch.tensor([2, UNLABELLED, 0]), torch.arange(3))
    objective = CrossEntropy(weighting=weighting)  # type: ignore[arg-type]
    loss = objective.loss(Outputs(logits(), torch.zeros(3, 4)), batch, CONTEXT)
    weighted = weighting == "inverse-share"
    assert loss == classification_loss(logits(), batch.labels, CONTEXT, weighted)
    assert objective.heads(4, 3) == {} and objective.outputs == ()


def test_gradient_reaches_id_images_only() -> None:
    x = logits()
    classification_loss(x, torch.tensor([1, OUTLIER, UNLABELLED]), CONTEXT).backward()
    assert x.grad is not None
    assert x.grad[0].abs().min() > 0
    assert not x.grad[1:].any()


@pytest.mark.parametrize("labels", [[OUTLIER, UNLABELLED, OUTLIER], []])
def test_zero_and_not_nan_without_id_images(labels: list[int]) -> None:
    loss = classification_loss(
        logits()[: len(labels)], torch.tensor(labels, dtype=torch.int64), CONTEXT
    )
    assert loss.item() == 0
    loss.backward()
