import math

import pytest
import torch

from fidal.learning.objectives.base import Batch, Context
from fidal.learning.objectives.cross_entropy import classification_loss
from fidal.learning.objectives.detector import Detector, detection_loss, detector_targets
from fidal.types import OUTLIER, UNLABELLED, Outputs

LABELS = torch.tensor([1, OUTLIER, UNLABELLED])
LOGITS = [[0.3, 1.1, -0.4], [0.9, -0.2, 0.5], [2.0, 0.0, -1.0]]
CONTEXT = Context(torch.tensor([3.0, 1.0]), n_outliers=1, round=0, rounds=5)


def detector_logits() -> torch.Tensor:
    return torch.tensor(LOGITS, dtype=torch.float64, requires_grad=True)


def cross_entropy(row: list[float], target: int, temperature: float) -> float:
    z = [math.exp(v / temperature) for v in row]
    return -math.log(z[target] / sum(z))


def test_targets_put_outliers_into_the_last_class() -> None:
    assert detector_targets(LABELS, 2).tolist() == [1, 2, UNLABELLED]


def test_three_samples_by_hand() -> None:
    # One ID of class 1, one outlier (class 2), one unlabelled that does not count.
    want = (cross_entropy(LOGITS[0], 1, 0.5) + cross_entropy(LOGITS[1], 2, 0.5)) / 2
    assert detection_loss(detector_logits(), LABELS, 0.5).item() == pytest.approx(want)


def test_one_number_worked_on_paper() -> None:
    # Logits (ln 3, 0, 0) / 0.5 = (ln 9, 0, 0): p = 9/11 for class 0.
    logits = torch.tensor([[math.log(3), 0, 0]])
    loss = detection_loss(logits, torch.tensor([0]), 0.5)
    assert loss.item() == pytest.approx(math.log(11 / 9), rel=1e-5)


def test_gradient_reaches_labelled_rows_only() -> None:
    logits = detector_logits()
    detection_loss(logits, LABELS, 0.5).backward()
    assert logits.grad is not None
    assert logits.grad[:2].abs().min() > 0
    assert torch.equal(logits.grad[2], torch.zeros(3, dtype=torch.float64))


@pytest.mark.parametrize("labels", [[UNLABELLED, UNLABELLED, UNLABELLED], []])
def test_zero_and_not_nan_without_labelled_images(labels: list[int]) -> None:
    logits = detector_logits()[: len(labels)]
    assert detection_loss(logits, torch.tensor(labels, dtype=torch.int64)).item() == 0


def test_the_objective_adds_the_task_loss_and_keeps_outliers_out_of_it() -> None:
    task = torch.tensor(
        [[0.2, -0.1], [5.0, -3.0], [1.0, 2.0]], dtype=torch.float64, requires_grad=True
    )
    outputs = Outputs(task, torch.zeros(3, 4), {"detector": detector_logits()})
    loss = Detector().loss(outputs, Batch(LABELS, torch.zeros(3, dtype=torch.int64)), CONTEXT)
    want = classification_loss(task, LABELS, CONTEXT) + detection_loss(
        detector_logits(), LABELS, 0.5
    )
    assert loss.item() == pytest.approx(want.item())
    loss.backward()  # type: ignore[no-untyped-call]
    assert task.grad is not None
    assert task.grad[0].abs().min() > 0
    assert torch.equal(task.grad[1:], torch.zeros(2, 2, dtype=torch.float64))


def test_the_head_has_one_output_more_than_classes() -> None:
    head = Detector().heads(width=7, classes=3)["detector"]
    assert head(torch.zeros(2, 7)).shape == (2, 4)
