import math
from dataclasses import replace

import pytest

from fidal.experiment.config import make_experiment
from fidal.experiment.records import FEDERATION, rows_of
from fidal.federation.messages import EvaluateReply, GateReport, QueryReply
from fidal.federation.state import RoundResult
from tests.federation.test_weights import weights

EXPERIMENT = make_experiment({"name": "x", "benchmark": "phantom", "strategy": "fidal", "seed": 4})
CLASSES = ("mel", "nv")

# Site a: 100 candidates, 40 OOD, the gate catches 30 of them and loses 6 of the 60 ID images.
# Site b: 20 candidates, 5 OOD, it catches all and loses none of 15.
QUERIED = {
    "a": QueryReply("a", 2, 100, 10, 10, 8, 2, 25, 5, 0, None, 0.4),
    "b": QueryReply("b", 2, 20, 10, 10, 10, 0, 28, 2, 1, None, 0.25),
}
GATES = {
    "a": GateReport(0.36, 0.3, 2.0, 0.4, 0.9, 0.8, 0.1, true_recall=0.75, true_id_loss=0.1),
    "b": GateReport(0.25, 0.3, 2.0, 0.3, None, None, 0.0, true_recall=1.0, true_id_loss=0.0),
}
EVALUATED = {
    "a": EvaluateReply("a", 2, ((8, 2), (5, 5)), 0.1, 0.6),
    "b": EvaluateReply("b", 2, ((1, 0), (0, 0)), 0.2, 0.3),
}


def result(gated: bool = True) -> RoundResult:
    queried = {
        site: QueryReply(**{**vars(reply), "gate": GATES[site] if gated else None})
        for site, reply in QUERIED.items()
    }
    return RoundResult(2, queried, EVALUATED, weights(0, 0, 0))


def test_there_is_a_row_per_site_and_one_for_the_federation_and_each_says_whose() -> None:
    rows = rows_of(EXPERIMENT, CLASSES, result())
    assert [row["site"] for row in rows] == ["a", "b", FEDERATION]
    for row in rows:
        assert row["run"] == EXPERIMENT.run_name and row["classes"] == list(CLASSES)
        assert (row["strategy"], row["seed"], row["round"]) == ("fidal", 4, 2)


def test_a_site_s_row_worked_by_hand() -> None:
    row = rows_of(EXPERIMENT, CLASSES, result())[0]
    assert row["bma"] == row["accuracy"] == pytest.approx(0.65)
    assert row["recall"] == [0.8, 0.5]
    assert row["purity"] == 25 / 30
    assert (row["asked"], row["answered_id"], row["answered_ood"]) == (10, 8, 2)
    gate = row["gate"]
    assert isinstance(gate, dict) and (gate["true_recall"], gate["id_loss"]) == (0.75, 0.1)


def test_mean_of_sites_and_pooled_are_two_numbers_with_two_names() -> None:
    row = rows_of(EXPERIMENT, CLASSES, result())[2]
    # b has no image of the second class, so its BMA is its first recall.
    assert row["bma_mean"] == pytest.approx((0.65 + 1) / 2)
    assert row["bma_pooled"] == pytest.approx((9 / 11 + 0.5) / 2)
    assert row["accuracy_mean"] == pytest.approx((13 / 20 + 1) / 2)
    assert row["accuracy_pooled"] == pytest.approx(14 / 21)
    assert row["recall"] == pytest.approx([9 / 11, 0.5])
    assert (row["labelled"], row["outliers"]) == (53, 7) and row["purity"] == 53 / 60


def test_gates_of_the_federation_are_pooled_over_candidates() -> None:
    row = rows_of(EXPERIMENT, CLASSES, result())[2]
    assert row["pool_ood_share"] == pytest.approx(45 / 120)
    assert row["gate"] == {
        "true_recall": pytest.approx(35 / 45),
        "true_id_loss": pytest.approx(6 / 75),
    }
    assert rows_of(EXPERIMENT, CLASSES, result(gated=False))[2]["gate"] is None


def test_a_site_without_test_images_does_not_spoil_the_mean() -> None:
    nothing = EvaluateReply("b", 2, ((0, 0), (0, 0)), math.nan, math.nan)
    evaluated = {"a": EVALUATED["a"], "b": nothing}
    rows = rows_of(EXPERIMENT, CLASSES, RoundResult(2, QUERIED, evaluated, weights(0, 0, 0)))
    assert rows[2]["bma_mean"] == pytest.approx(0.65)
    none = {"a": nothing, "b": nothing}
    rows = rows_of(EXPERIMENT, CLASSES, RoundResult(2, QUERIED, none, weights(0, 0, 0)))
    assert math.isnan(float(str(rows[2]["bma_mean"])))


def test_the_federation_s_row_says_who_was_missing_and_what_privacy_has_cost() -> None:
    plain = rows_of(EXPERIMENT, CLASSES, result())[2]
    assert plain["missing"] == {} and plain["privacy"] is None
    away = {"a": EVALUATED["a"]}
    missing, spent = {"b": "did not answer: no answer within 60 s"}, {"epsilon": 3.5, "delta": 1e-5}
    found = replace(result(), evaluated=away, missing=missing, privacy=spent)
    rows = rows_of(EXPERIMENT, CLASSES, found)
    assert [row["site"] for row in rows] == ["a", FEDERATION]
    assert rows[1]["missing"] == missing and rows[1]["privacy"] == spent
    assert rows[1]["labelled"] == 25 + 28  # what b had labelled before it went missing still counts
