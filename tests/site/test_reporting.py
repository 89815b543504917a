import math
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch

from fidal.federation.messages import GateReport
from fidal.learning.networks import Network, build
from fidal.rows import read
from fidal.site.reporting import PREDICTIONS, evaluate, gate_report, write_query
from fidal.site.site import Site
from fidal.storage import load_state
from fidal.types import OUTLIER, UNLABELLED, Diagnosis, GateDiagnosis, Query
from tests.site.clinic import make_site

SAID = GateDiagnosis("diagonal", "otsu", 6, 0.5, 0.3, 2.0, 0.4, None, None, 0.1, ("few labels",))


def query(kept: list[bool]) -> Query:
    scores = {"kept": torch.tensor(kept), "risk": torch.arange(6.0)}
    return Query(("e", "b"), scores, Diagnosis(gate=SAID, terms={"spread": 0.8}, notes=("a note",)))


def test_true_recall_and_loss_of_the_gate_are_over_the_whole_pool() -> None:
    truth = np.array([0, 1, OUTLIER, OUTLIER, 2, OUTLIER])
    report = gate_report(query([True, False, False, False, True, True]), truth)
    # Two of three outliers and one of three ID images were refused.
    assert report == GateReport(
        *(0.5, 0.3, 2.0, 0.4, None, None, 0.1),
        true_recall=pytest.approx(2 / 3),
        true_id_loss=pytest.approx(1 / 3),
    )


def test_nothing_is_said_of_what_is_not_known() -> None:
    everything = [True] * 6
    some = gate_report(query(everything), np.array([0, UNLABELLED, OUTLIER, 0, 0, 0]))
    assert some is not None and some.true_recall is None and some.true_id_loss is None
    clean = gate_report(query(everything), np.zeros(6, dtype=np.int64))
    assert clean is not None and clean.true_recall is None and clean.true_id_loss == 0
    assert gate_report(Query(("a",)), np.zeros(6, dtype=np.int64)) is None


def test_a_site_keeps_its_query_with_ranks_answers_scores_and_words(tmp_path: Path) -> None:
    candidates = tuple("abcdef")
    for answers in ({"e": 2}, {"e": 1, "b": 0}):  # a repeated query leaves the first record
        write_query(tmp_path, 1, query([True] * 6), candidates, ("e", "b"), answers)
    (row,) = read(tmp_path / "queries.jsonl")
    assert row == {
        "round": 1,
        "ids": ["e", "b"],
        "answers": [2, None],
        "scores": {"kept": [1.0, 1.0], "risk": [4.0, 1.0]},
        "notes": ["a note", "few labels"],
        "terms": {"spread": 0.8},
    }
    tensors, meta = load_state(tmp_path / "scores-1.safetensors")
    assert tensors["risk"].tolist() == [0, 1, 2, 3, 4, 5]
    assert meta["ids"].split("\n") == list(candidates)


@pytest.fixture
def site(tmp_path: Path) -> Site:
    return make_site(tmp_path)


def probe(site: Site) -> Network:
    """Its four logits are the first four inputs, so its answers can be worked out by hand."""
    net = build(site.setup.architecture, (8,), 4, site.setup.strategy.objective, 0)
    with torch.no_grad():
        net.classifier.weight.copy_(torch.eye(4, 8))
        net.classifier.bias.zero_()
    return net


def test_confusion_loss_and_calibration_against_a_loop(site: Site, tmp_path: Path) -> None:
    reply = evaluate(probe(site), site.feed, site.data, 2, tmp_path)
    confusion = np.zeros((4, 4), dtype=int)
    loss, bins = 0.0, [[0.0, 0.0] for _ in range(15)]
    for row in site.data.test:
        logits, y = site.data.inputs[row, :4].astype(np.float64), site.data.labels[row]
        p = np.exp(logits - logits.max()) / np.exp(logits - logits.max()).sum()
        confusion[y, p.argmax()] += 1
        loss -= math.log(p[y])
        which = bins[min(int(p.max() * 15), 14)]
        which[0] += p.max()
        which[1] += p.argmax() == y
    n = len(site.data.test)
    assert np.array_equal(reply.confusion, confusion)
    assert reply.loss == pytest.approx(loss / n, rel=1e-4)
    assert reply.calibration_error == pytest.approx(sum(abs(a - b) for a, b in bins) / n, rel=1e-4)


def test_predictions_stay_at_the_site_image_by_image(site: Site, tmp_path: Path) -> None:
    for round in (1, 2):  # the last round's replace those before
        reply = evaluate(probe(site), site.feed, site.data, round, tmp_path)
    kept, meta = load_state(tmp_path / PREDICTIONS)
    assert meta["round"] == "2"
    assert meta["ids"].split("\n") == [site.data.ids[row] for row in site.data.test]
    logits = site.data.inputs[site.data.test, :4].astype(np.float64)
    assert kept["predicted"].tolist() == logits.argmax(1).tolist()
    each = np.exp(logits) / np.exp(logits).sum(1, keepdims=True)
    np.testing.assert_allclose(kept["confidence"].numpy(), each.max(1), rtol=1e-5)
    counts = np.zeros((4, 4), dtype=int)
    np.add.at(counts, (site.data.labels[site.data.test], kept["predicted"].numpy()), 1)
    assert np.array_equal(reply.confusion, counts)


def test_without_test_images_there_is_nothing_to_say(site: Site, tmp_path: Path) -> None:
    empty = replace(site.data, test=site.data.test[:0])
    reply = evaluate(probe(site), site.feed, empty, 2, tmp_path)
    assert not np.any(reply.confusion)
    assert math.isnan(reply.loss) and math.isnan(reply.calibration_error)
