import math

import pytest
import torch
from torch import Tensor

from fidal.learning.objectives.base import Batch, Context
from fidal.learning.objectives.cross_entropy import classification_loss
from fidal.learning.objectives.detector import detection_loss
from fidal.learning.objectives.eoal import EOALObjective, cluster_loss, indecision_loss
from fidal.learning.objectives.one_vs_all import one_vs_all_loss
from fidal.types import OUTLIER, UNLABELLED, Outputs

LABELS = torch.tensor([1, OUTLIER, UNLABELLED])
ROWS = torch.tensor([4, 1, 0])  # the outlier is row 1 of L_OOD
BINARY = [[0.1, 1.2, 0.7, -0.5], [0.4, -0.3, 0.2, 0.9], [-1.0, 0.6, 0.8, 0.3]]
DETECTOR = [[0.3, 1.1, -0.4], [0.9, -0.2, 0.5], [2.0, 0.0, -1.0]]
TASK = [[0.2, -0.1], [5.0, -3.0], [1.0, 2.0]]
FEATURES = [[1.0, 0.0], [3.0, 4.0], [0.5, 0.5]]
CENTRES = [[0.0, 0.0], [3.0, 0.0]]
CLUSTER = [1, 0]


def leaf(rows: list[list[float]]) -> Tensor:
    return torch.tensor(rows, dtype=torch.float64, requires_grad=True)


def outputs() -> Outputs:
    return Outputs(leaf(TASK), leaf(FEATURES), {"detector": leaf(DETECTOR), "binary": leaf(BINARY)})


def context(n_outliers: int) -> Context:
    state = {"centres": torch.tensor(CENTRES), "cluster": torch.tensor(CLUSTER)}
    return Context(torch.tensor([3.0, 1.0]), n_outliers, 0, 5, state if n_outliers else {})


def p_is(row: list[float], c: int) -> float:
    no, yes = math.exp(row[c]), math.exp(row[c + 2])
    return yes / (no + yes)


def by_hand() -> float:
    """Section 3.2 for one ID of class 1, one outlier of cluster 0, one unlabelled; a = 0.8."""
    weight = 2 - 1 / 4  # class 1 has one of four labelled images
    classify = weight * math.log(1 + math.exp(0.2 + 0.1))
    z_id = [math.exp(v / 0.5) for v in DETECTOR[0]]
    z_ood = [math.exp(v / 0.5) for v in DETECTOR[1]]
    xent = (-math.log(z_id[1] / sum(z_id)) - math.log(z_ood[2] / sum(z_ood))) / 2
    positive, hardest = -math.log(p_is(BINARY[0], 1)), -math.log(1 - p_is(BINARY[0], 0))
    ood = -sum(
        0.8 / 2 * (math.log(p_is(BINARY[1], c)) + math.log(1 - p_is(BINARY[1], c))) for c in (0, 1)
    )
    open_loss = (0.2 * positive + 0.2 * hardest) / 2 + ood / 2
    own, other = 5.0, 4.0  # from (3, 4) to (0, 0) and to (3, 0)
    reg = 0.1 * own + math.log(1 + math.exp(own - other))
    return classify + xent + open_loss + 0.1 * reg


def test_three_samples_by_hand() -> None:
    loss = EOALObjective().loss(outputs(), Batch(LABELS, ROWS), context(n_outliers=2))
    assert loss.item() == pytest.approx(by_hand(), rel=1e-12)


def test_without_outliers_the_one_vs_all_loss_counts_in_full() -> None:
    labels = torch.tensor([1, 0, UNLABELLED])
    out, now = outputs(), context(n_outliers=0)
    loss = EOALObjective().loss(out, Batch(labels, ROWS), now)
    want = (
        classification_loss(out.logits, labels, now)
        + detection_loss(out.heads["detector"], labels, 0.5)
        + one_vs_all_loss(out.heads["binary"], labels) / 2
    )
    assert loss.item() == pytest.approx(want.item())


def test_a_batch_without_outliers_still_weighs_by_what_the_site_has() -> None:
    labels = torch.tensor([1, 0, UNLABELLED])
    alone = EOALObjective().loss(outputs(), Batch(labels, ROWS), context(n_outliers=0))
    among = EOALObjective().loss(outputs(), Batch(labels, ROWS), context(n_outliers=2))
    known = one_vs_all_loss(outputs().heads["binary"], labels)
    assert (alone - among).item() == pytest.approx(0.8 * known.item() / 2)


def test_gradients_flow_only_where_they_should() -> None:
    out = outputs()
    loss = EOALObjective().loss(out, Batch(LABELS, ROWS), context(n_outliers=2))
    loss.backward()  # type: ignore[no-untyped-call]
    touched = {
        name: [bool((row != 0).any()) for row in x.grad]
        for name, x in {"task": out.logits, "features": out.features, **out.heads}.items()
        if x.grad is not None and bool(torch.isfinite(x.grad).all())
    }
    # Rows: ID, outlier, unlabelled. L_reg alone reads the features, and only of outliers.
    assert touched == {
        "task": [True, False, False],
        "features": [False, True, False],
        "detector": [True, True, False],
        "binary": [True, True, False],
    }


def test_outliers_are_pushed_to_indecision() -> None:
    sure, torn = torch.tensor([[-2.0, 3.0, 2.0, -3.0]]), torch.zeros(1, 4)
    assert float(indecision_loss(torn)) == pytest.approx(2 * math.log(2))
    assert float(indecision_loss(sure)) > float(indecision_loss(torn))


def test_cluster_loss_against_its_formula() -> None:
    generator = torch.Generator().manual_seed(0)
    f, mu = (torch.randn(n, 5, dtype=torch.float64, generator=generator) for n in (6, 3))
    own = [0, 2, 1, 1, 0, 2]
    for i, value in enumerate(cluster_loss(f, mu, torch.tensor(own)).tolist()):
        d = [math.dist(f[i].tolist(), centre.tolist()) for centre in mu]
        rest = sum(math.exp(d[own[i]] - d[j]) for j in range(3) if j != own[i])
        assert value == pytest.approx(0.1 * d[own[i]] + math.log(1 + rest))


def test_cluster_loss_on_its_own_centre_has_a_finite_gradient() -> None:
    f = torch.ones(2, 3, requires_grad=True)
    cluster_loss(f, torch.ones(1, 3), torch.zeros(2, dtype=torch.int64)).sum().backward()
    assert f.grad is not None and bool(torch.isfinite(f.grad).all())


def test_an_epoch_begins_with_at_most_as_many_clusters_as_classes() -> None:
    centre = torch.tensor([[9.0, 0, 0], [0, 9, 0], [0, 0, 9]])
    noise = torch.randn(12, 3, generator=torch.Generator().manual_seed(0))
    h = centre.repeat_interleave(4, 0) + 0.1 * noise
    state = EOALObjective().begin_epoch(h, classes=3)
    own = state["centres"][state["cluster"]]
    assert torch.allclose(own, h.reshape(3, 4, 3).mean(1).repeat_interleave(4, 0), atol=1e-6)
    assert EOALObjective().begin_epoch(h[:2], classes=3)["centres"].shape == (1, 3)
    assert EOALObjective().begin_epoch(h[:0], classes=3) == {}


def test_it_asks_for_the_supplements_sgd() -> None:
    wanted = EOALObjective().optimiser
    assert (wanted.kind, wanted.lr, wanted.momentum) == ("sgd", 1e-2, 0.9)
    assert (wanted.weight_decay, wanted.step, wanted.gamma) == (5e-4, 60, 0.5)


def test_heads() -> None:
    heads = EOALObjective().heads(width=7, classes=3)
    assert heads["detector"](torch.zeros(2, 7)).shape == (2, 4)
    assert heads["binary"](torch.zeros(2, 7)).tolist() == [[0.0] * 6] * 2  # no bias
