import math
from dataclasses import replace

import numpy as np
import pytest
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from fidal.learning.objectives.base import Batch, Companion, Context
from fidal.learning.objectives.pal import PALObjective, open_loss, ramp
from fidal.types import OUTLIER, UNLABELLED, Outputs

# C = 1, so that the open head has two pairs: columns "not 0", "not OOD", "is 0", "is OOD".
LABELS = torch.tensor([0, OUTLIER, UNLABELLED, UNLABELLED])
OPEN = [
    [0.1, 1.2, 0.7, -0.5],
    [0.4, -0.3, 0.2, 0.9],
    [-1.0, 0.6, 0.8, 0.3],
    [0.5, 0.5, -0.2, 0.1],
]
META = [[0.3, 1.1], [0.9, -0.2], [2.0, 0.0], [0.0, 1.0]]
WEIGHT = [0.9, 0.1, 0.3, 0.6]
CONTEXT = Context(torch.tensor([4.0]), n_outliers=1, round=2, rounds=8)


def tensor(rows: object) -> Tensor:
    return torch.tensor(rows, dtype=torch.float64)


def p_is(row: list[float], c: int) -> float:
    no, yes = math.exp(row[c]), math.exp(row[c + 2])
    return yes / (no + yes)


def h(p: float) -> float:
    return -(p * math.log(p) + (1 - p) * math.log(1 - p))


def open_by_hand() -> float:
    labelled = [
        -math.log(p_is(OPEN[i], y)) - math.log(1 - p_is(OPEN[i], 1 - y))
        for i, y in ((0, 0), (1, 1))
    ]
    entropy = [(h(p_is(OPEN[i], 0)) + h(p_is(OPEN[i], 1))) / 2 for i in (2, 3)]
    return (0.3 * entropy[0] + 0.6 * entropy[1]) / 0.9 + sum(labelled) / 2


class Constant(nn.Module):
    """A WNet that says WEIGHT whatever it sees."""

    def forward(self, open_logits: Tensor) -> Tensor:
        return tensor(WEIGHT)[: len(open_logits), None]


def test_ramp() -> None:
    assert ramp(CONTEXT) == pytest.approx(math.exp(-5 * 0.75**2))
    assert ramp(replace(CONTEXT, round=0)) == pytest.approx(math.exp(-5))


def test_open_loss_by_hand() -> None:
    loss = open_loss(tensor(OPEN), LABELS, tensor(WEIGHT)[:, None])
    assert float(loss) == pytest.approx(open_by_hand(), rel=1e-12)


def test_the_whole_loss_by_hand() -> None:
    outputs = Outputs(
        tensor([[0.3]] * 4), tensor([[0.0]] * 4), {"meta": tensor(META), "open": tensor(OPEN)}
    )
    companion = Companion(Constant(), torch.optim.SGD([torch.zeros(1)], lr=1))
    loss = PALObjective().loss(outputs, Batch(LABELS, LABELS), CONTEXT, companion)
    meta = (math.log(1 + math.exp(1.1 - 0.3)) + math.log(1 + math.exp(0.9 + 0.2))) / 2
    assert float(loss) == pytest.approx(meta + math.exp(-5 * 0.75**2) * open_by_hand(), rel=1e-12)


def test_three_samples_by_hand_where_there_are_classes_to_tell_apart() -> None:
    """An ID image of class 1 of two, an outlier, an unlabelled one; t/T = 1/2: kappa = e^-5/4."""
    a, b = math.log(2), math.log(3)
    open_logits = tensor([[a, 0, b, 0, b, 0], [0, 0, 0, 0, a, b], [0, b, 0, 0, 0, 0]])
    outputs = Outputs(
        tensor([[0, b], [9, -9], [1, 2]]),
        tensor([[0.0]] * 3),
        {"meta": tensor([[0, b, 0], [0, 0, a], [5, 5, 5]]), "open": open_logits},
    )
    labels = torch.tensor([1, OUTLIER, UNLABELLED])
    context = Context(torch.tensor([3.0, 1.0]), n_outliers=1, round=4, rounds=8)
    companion = Companion(Constant(), torch.optim.SGD([torch.zeros(1)], lr=1))
    loss = PALObjective().loss(outputs, Batch(labels, labels), context, companion)
    # Class 1 has one of four labelled images, p = 3/4: (2 - 1/4) ln 4/3.
    classes = 1.75 * math.log(4 / 3)
    # p = 3/5 for class 1 of three, and 2/4 for "does not belong here": (ln 5/3 + ln 2) / 2.
    meta = (math.log(5 / 3) + math.log(2)) / 2
    # p_c(1) of the first: 1/3, 3/4, 1/4, of the second: 1/2, 2/3, 3/4. Own: 3/4 and 3/4; hardest
    # other: 1/3 and 2/3. The unlabelled: 1/2, 1/4, 1/2; with one image its weight cancels.
    labelled = (2 * math.log(4 / 3) + math.log(3 / 2) + math.log(3)) / 2
    entropy = (h(1 / 2) + h(1 / 4) + h(1 / 2)) / 3
    want = classes + meta + math.exp(-5 / 4) * (entropy + labelled)
    assert float(loss) == pytest.approx(want, rel=1e-12)


def test_weights_of_labelled_images_do_not_count() -> None:
    other = tensor([0.5, 0.5, 0.3, 0.6])[:, None]
    assert float(open_loss(tensor(OPEN), LABELS, other)) == pytest.approx(open_by_hand())


def test_nothing_unlabelled_or_nothing_labelled() -> None:
    every = tensor(WEIGHT)[:, None]
    assert float(open_loss(tensor(OPEN), torch.full((4,), UNLABELLED), every)) <= math.log(2)
    known = torch.tensor([0, 0, 0, OUTLIER])
    assert math.isfinite(float(open_loss(tensor(OPEN), known, every)))


class Site:
    """A batch of 12 images of C = 3 classes, their open head and WNet, in float64."""

    def __init__(self) -> None:
        torch.manual_seed(0)
        self.objective = PALObjective(inner_lr=0.5)
        self.heads = nn.ModuleDict(self.objective.heads(5, 3)).double()
        self.companion = self.objective.companion(3)
        self.companion.module.double()
        self.labels = torch.tensor([0, 1, 2, OUTLIER, OUTLIER] + [UNLABELLED] * 7)
        self.batch = Batch(self.labels, torch.arange(12))
        self.context = Context(torch.ones(3), n_outliers=2, round=6, rounds=8)
        self.features = torch.randn(12, 5, dtype=torch.float64, requires_grad=True)
        self.outputs = Outputs(
            torch.randn(12, 3, dtype=torch.float64, requires_grad=True),
            self.features,
            {name: head(self.features) for name, head in self.heads.items()},
        )

    def update(self) -> None:
        self.objective.update_companion(
            self.companion, self.heads, self.outputs, self.batch, self.context
        )

    def outer_in_numpy(self) -> float:
        """The outer loss for WNet as it is now: step the open head, then judge it, no autograd
        through the step."""
        x, labels = self.features.detach().numpy(), self.labels.numpy()
        head = self.heads["open"].weight
        assert isinstance(head, Tensor)
        weight = self.companion.module(head.new_tensor(x) @ head.detach().T).detach()
        start = head.detach().clone().requires_grad_()
        loss = ramp(self.context) * open_loss(torch.from_numpy(x) @ start.T, self.labels, weight)
        (slope,) = torch.autograd.grad(loss, start)
        stepped = (start - 0.5 * slope).detach().numpy()
        logits = (x @ stepped.T).reshape(12, 2, 4)
        odds = logits[:, 1] - logits[:, 0]
        target = np.where(labels == OUTLIER, 3, labels)
        known = target >= 0
        log_p = odds - _log_sum_exp(odds)
        return float(-log_p[known, target[known]].mean())


def _log_sum_exp(x: NDArray[np.float64]) -> NDArray[np.float64]:
    summed: NDArray[np.float64] = np.log(np.exp(x).sum(1, keepdims=True))
    return summed


def test_wnets_gradient_is_the_finite_difference_of_the_outer_loss() -> None:
    site = Site()
    before = [p.detach().clone() for p in site.companion.module.parameters()]
    site.update()
    parameters = list(site.companion.module.parameters())
    for p, old in zip(parameters, before, strict=True):
        p.data.copy_(old)  # back to where the gradient was taken
    for p in parameters:
        assert p.grad is not None
        flat, slope = p.data.view(-1), p.grad.view(-1)
        largest = slope.abs().argsort(descending=True)[:4]
        assert float(slope[largest[0]].abs()) > 1e-8
        for i in largest.tolist():
            kept, eps = float(flat[i]), 1e-4
            flat[i] = kept + eps
            above = site.outer_in_numpy()
            flat[i] = kept - eps
            below = site.outer_in_numpy()
            flat[i] = kept
            assert (above - below) / (2 * eps) == pytest.approx(float(slope[i]), rel=1e-4)


def test_the_update_steps_wnet_and_touches_nothing_else() -> None:
    site = Site()
    heads = {name: p.detach().clone() for name, p in site.heads.named_parameters()}
    before = [p.detach().clone() for p in site.companion.module.parameters()]
    site.update()
    after = list(site.companion.module.parameters())
    assert all(not torch.equal(a, b) for a, b in zip(before, after, strict=True))
    for name, p in site.heads.named_parameters():
        assert torch.equal(p, heads[name]) and p.grad is None and p.requires_grad
    assert site.features.grad is None


def test_many_updates_lower_the_outer_loss() -> None:
    site = Site()
    start = site.outer_in_numpy()
    for group in site.companion.optimiser.param_groups:
        group["lr"] = 1e-3
    for _ in range(40):
        site.update()
    assert site.outer_in_numpy() < start


def test_the_networks_step_treats_wnet_as_a_constant_and_flows_only_where_it_should() -> None:
    site = Site()
    for x in site.outputs.heads.values():
        x.retain_grad()
    loss = site.objective.loss(site.outputs, site.batch, site.context, site.companion)
    loss.backward()  # type: ignore[no-untyped-call]
    assert all(p.grad is None for p in site.companion.module.parameters())

    def touched(x: Tensor) -> list[bool]:
        assert x.grad is not None
        return [bool((row != 0).any()) for row in x.grad]

    # Three ID, two outliers, seven unlabelled.
    assert touched(site.outputs.logits) == [True] * 3 + [False] * 9
    assert touched(site.outputs.heads["meta"]) == [True] * 5 + [False] * 7
    assert touched(site.outputs.heads["open"]) == [True] * 12


def test_the_pool_sees_both_heads_and_the_weights() -> None:
    site = Site()
    seen = site.objective.pool_outputs(site.outputs, site.companion)
    assert tuple(seen) == PALObjective.outputs
    assert seen["weight"].shape == (12, 1) and not seen["weight"].requires_grad
    assert torch.equal(seen["weight"], site.companion.module(seen["open"]).detach())


def test_without_its_companion_it_says_so() -> None:
    site = Site()
    with pytest.raises(ValueError, match="companion"):
        site.objective.pool_outputs(site.outputs, None)


def test_shapes_leave_room_for_outliers_from_the_start() -> None:
    heads = PALObjective().heads(width=7, classes=3)
    assert heads["meta"](torch.zeros(2, 7)).shape == (2, 4)
    assert heads["open"](torch.zeros(2, 7)).tolist() == [[0.0] * 8] * 2  # no bias
    assert PALObjective().companion(3).module(torch.zeros(2, 8)).shape == (2, 1)
