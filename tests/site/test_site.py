from dataclasses import replace
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file

from fidal.federation.messages import (
    EvaluateRequest,
    QueryRequest,
    StatusRequest,
    TrainRequest,
    Weights,
)
from fidal.federation.weights import pack
from fidal.rows import read
from fidal.site.refusal import Refusal
from fidal.types import OUTLIER
from tests.site.clinic import fresh, make_site, train, warm_up


def test_warm_up_asks_the_budget_and_counts_what_was_answered(tmp_path: Path) -> None:
    site = make_site(tmp_path)
    reply = site.query(QueryRequest("toy-federation", 0, 12, None))
    truth = dict(zip(site.data.ids, site.data.labels.tolist(), strict=True))
    asked = site.ledger.worklist(0)
    assert asked is not None and len(asked) == reply.asked == reply.answered == 12
    assert reply.answered_ood == sum(truth[sample] == OUTLIER for sample in asked)
    assert reply.labelled == reply.answered_id and reply.outliers == reply.answered_ood
    assert reply.pool_ood_share == pytest.approx((site.data.labels[site.data.train] < 0).mean())


def test_warm_up_is_the_same_under_every_strategy(tmp_path: Path) -> None:
    a, b = make_site(tmp_path / "a"), make_site(tmp_path / "b", "fidal")
    warm_up(a)
    warm_up(b)
    assert a.ledger.worklist(0) == b.ledger.worklist(0)


def test_training_learns_the_task(tmp_path: Path) -> None:
    site = make_site(tmp_path)
    warm_up(site, 40)

    def correct(weights: Weights) -> int:
        reply = site.evaluate(EvaluateRequest("toy-federation", 0, weights))
        return sum(row[i] for i, row in enumerate(reply.confusion))

    weights = fresh(site)
    for _ in range(10):
        for step in range(3):
            reply = site.train(TrainRequest("toy-federation", 0, step, 3, weights))
            weights = reply.weights
    assert reply.n_labelled == len([y for y in site.ledger.answers().values() if y >= 0])
    assert correct(weights) > 24 >= 30 - 6
    assert correct(fresh(site)) < correct(weights)


def test_a_query_never_asks_an_image_twice_and_ends_when_the_pool_does(tmp_path: Path) -> None:
    site = make_site(tmp_path, "fidal")
    warm_up(site)
    asked = []
    for round in range(1, 5):
        weights = train(site, round - 1)
        reply = site.query(QueryRequest("toy-federation", round, 20, weights))
        asked.append(reply.asked)
    assert asked == [20, 20, 8, 0]
    assert sorted(site.ledger.asked()) == sorted(site.data.ids[i] for i in site.data.train)


def test_a_repeated_query_changes_nothing_and_replies_the_same(tmp_path: Path) -> None:
    site = make_site(tmp_path, "fidal")
    warm_up(site)
    request = QueryRequest("toy-federation", 1, 10, train(site))
    first = site.query(request)
    events = [event.key for event in site.ledger.events()]
    assert site.query(request) == first
    assert [event.key for event in site.ledger.events()] == events


def test_a_site_that_discards_outliers_counts_them_and_learns_nothing_from_them(
    tmp_path: Path,
) -> None:
    keeps, discards = (make_site(tmp_path / name, "fidal") for name in ("keeps", "discards"))
    discards.setup = replace(discards.setup, discarding=("east",))
    penalties, replies = [], []
    for site in (keeps, discards):
        warm_up(site, 20)
        replies.append(site.query(QueryRequest("toy-federation", 1, 10, train(site))))
        scores = load_file(site.folder / "scores-1.safetensors")
        penalties.append(scores["similarity_ood"])
    assert penalties[0].any() and not penalties[1].any()
    assert replies[1].gate is not None and replies[1].gate.recall is None
    assert replies[1].outliers == sum(x == OUTLIER for x in discards.ledger.answers().values()) > 0


def test_candidates_are_capped(tmp_path: Path) -> None:
    site = make_site(tmp_path, candidates=15)
    warm_up(site)
    reply = site.query(QueryRequest("toy-federation", 1, 30, train(site)))
    assert (reply.candidates, reply.asked) == (15, 15)


def test_a_query_needs_the_local_model_of_the_round_before(tmp_path: Path) -> None:
    site = make_site(tmp_path)
    warm_up(site)
    weights = train(site, 0)
    with pytest.raises(ValueError, match="of round 0, not 1"):
        site.query(QueryRequest("toy-federation", 2, 5, weights))


def test_a_site_that_missed_a_training_queries_by_the_global_model_and_notes_it(
    tmp_path: Path,
) -> None:
    site = make_site(tmp_path, "badge")
    warm_up(site)
    reply = site.query(QueryRequest("toy-federation", 1, 5, train(site), trained=False))
    assert reply.asked == 5
    notes = read(tmp_path / "queries.jsonl")[1]["notes"]
    assert isinstance(notes, list) and any("not in the last training" in str(n) for n in notes)


def test_a_step_out_of_turn_asks_for_the_round_again_and_changes_nothing(tmp_path: Path) -> None:
    site = make_site(tmp_path)
    warm_up(site)
    first = site.train(TrainRequest("toy-federation", 0, 0, 3, fresh(site)))
    for round, step in ((0, 2), (1, 1), (0, 0), (0, 2)):
        if step == 0:  # delivered twice
            assert torch.equal(
                site.train(TrainRequest("toy-federation", 0, 0, 3, fresh(site))).weights.flat,
                first.weights.flat,
            )
            continue
        with pytest.raises(Refusal, match="start the round again") as refused:
            site.train(TrainRequest("toy-federation", round, step, 3, fresh(site)))
        assert refused.value.trouble == "again"
    site.train(TrainRequest("toy-federation", 0, 1, 3, first.weights))


def test_the_status_counts_this_rounds_answers_and_all_answers(tmp_path: Path) -> None:
    site = make_site(tmp_path)
    nothing = site.status(StatusRequest("toy-federation", 0))
    assert (nothing.images, nothing.asked, nothing.answered, nothing.labelled) == (60, 0, 0, 0)
    warm_up(site)
    site.query(QueryRequest("toy-federation", 1, 7, train(site)))
    status = site.status(StatusRequest("toy-federation", 1))
    answers = list(site.ledger.answers().values())
    assert (status.asked, status.answered) == (7, 7)
    assert status.answered_ood == answers[12:].count(OUTLIER)
    assert status.answered_id == 7 - status.answered_ood
    assert status.outliers == answers.count(OUTLIER) and status.labelled == 19 - status.outliers


def test_the_gate_reports_its_true_recall_where_the_truth_is_known(tmp_path: Path) -> None:
    site = make_site(tmp_path, "fidal")
    warm_up(site, 25)
    reply = site.query(QueryRequest("toy-federation", 1, 10, train(site)))
    assert reply.gate is not None and reply.gate.true_recall is not None
    assert 0 <= reply.gate.true_recall <= 1 and 0 < reply.gate.rejected < 1


def test_going_on_in_the_middle_of_a_round_is_refused(tmp_path: Path) -> None:
    site = make_site(tmp_path)
    warm_up(site)
    with pytest.raises(ValueError, match="start the round again"):
        site.train(TrainRequest("toy-federation", 0, 1, 3, fresh(site)))


def test_another_network_is_refused(tmp_path: Path) -> None:
    site = make_site(tmp_path)
    warm_up(site)
    foreign = pack(torch.nn.Linear(3, 2).state_dict())
    with pytest.raises(ValueError, match="another network"):
        site.train(TrainRequest("toy-federation", 0, 0, 3, foreign))


def test_no_labels_at_all_trains_nothing(tmp_path: Path) -> None:
    site = make_site(tmp_path)
    sent = fresh(site)
    reply = site.train(TrainRequest("toy-federation", 0, 0, 3, sent))
    assert reply.n_labelled == 0
    assert torch.equal(reply.weights.flat, sent.flat)
