"""What may cross the wire: the list itself, and a site's real traffic held against it."""

import typing
from dataclasses import fields, is_dataclass
from pathlib import Path

import torch

from fidal.federation import messages
from fidal.federation.messages import (
    EvaluateRequest,
    QueryRequest,
    StatusRequest,
    TensorSpec,
    TrainRequest,
    Weights,
)
from fidal.federation.weights import pack
from fidal.learning.networks import build
from tests.site.clinic import make_site

ALLOWED = {int, float, str, bool, type(None)}

CONTRACT = {
    "TensorSpec": ["name", "shape", "dtype"],
    "Weights": ["specs", "flat"],
    "TrainReply": ["site", "weights", "n_labelled", "loss"],
    "GateReport": [
        *("rejected", "cut", "separation", "ood_share", "auroc", "recall", "id_loss"),
        *("true_recall", "true_id_loss"),
    ],
    "QueryReply": [
        *("site", "round", "candidates", "asked", "answered", "answered_id", "answered_ood"),
        *("labelled", "outliers", "filled", "gate", "pool_ood_share"),
    ],
    "EvaluateReply": ["site", "round", "confusion", "calibration_error", "loss"],
    "StatusReply": [
        *("site", "round", "images", "asked", "answered", "answered_id", "answered_ood"),
        *("labelled", "outliers"),
    ],
    "Failure": ["site", "reason", "trouble"],
}


def leaves(x: object) -> typing.Iterator[object]:
    if is_dataclass(x) and not isinstance(x, type):
        for f in fields(x):
            yield from leaves(getattr(x, f.name))
    elif isinstance(x, tuple):
        for each in x:
            yield from leaves(each)
    else:
        yield x


def test_the_list_of_what_a_site_may_send() -> None:
    sent = {f.__name__ for f in typing.get_args(messages.Reply)} | {
        "Weights",
        "TensorSpec",
        "GateReport",
    }
    assert sent == set(CONTRACT)
    for name, expected in CONTRACT.items():
        assert [f.name for f in fields(getattr(messages, name))] == expected


def test_real_traffic_holds_nothing_but_weights_counts_and_scalars(tmp_path: Path) -> None:
    site = make_site(tmp_path, "fidal")
    network = build(site.setup.architecture, site.feed.shape, 4, site.setup.strategy.objective, 1)
    weights = pack(network.state_dict())
    replies: list[object] = [site.query(QueryRequest("f", 0, 20, None))]
    for step in range(3):
        replies.append(site.train(TrainRequest("f", 0, step, 3, weights)))
    replies.append(site.query(QueryRequest("f", 1, 10, weights)))
    replies.append(site.evaluate(EvaluateRequest("f", 0, weights)))
    replies.append(site.status(StatusRequest("f", 0)))
    words = {"east", *(spec.name for spec in weights.specs), "float32"}
    for reply in replies:
        for leaf in leaves(reply):
            if isinstance(leaf, torch.Tensor):
                assert leaf.shape == weights.flat.shape
            else:
                assert type(leaf) in ALLOWED
                assert not isinstance(leaf, str) or leaf in words


def test_failures_name_no_image(tmp_path: Path) -> None:
    site = make_site(tmp_path)
    weights = Weights((TensorSpec("x", (1,), "float32"),), torch.zeros(1))
    site.query(QueryRequest("f", 0, 20, None))
    try:
        site.train(TrainRequest("f", 0, 0, 3, weights))
    except ValueError as error:
        assert "secret" not in str(error) and str(tmp_path) not in str(error)
    else:
        raise AssertionError("a foreign network was taken")
