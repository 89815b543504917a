"""What a site does with what arrives: carries out, refuses, logs, and gives nothing away."""

import json
import logging
import math
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch

from fidal.federation.codec import encode
from fidal.federation.messages import (
    EvaluateReply,
    EvaluateRequest,
    Failure,
    QueryReply,
    QueryRequest,
    Request,
    StatusReply,
    StatusRequest,
    TensorSpec,
    TrainReply,
    TrainRequest,
    Weights,
)
from fidal.site.audit import verified
from fidal.site.policy import Policy
from tests.site import clinic
from tests.site.clinic import make_site
from tests.site.served import FEDERATION, STAMP, Served, served


@pytest.fixture
def site(tmp_path: Path) -> Iterator[Served]:
    with served(tmp_path / "east") as site:
        yield site


def whole_round(site: Served) -> list[object]:
    """Warm-up, three steps, an evaluation, the next query, the status."""
    replies: list[object] = [site.ask(QueryRequest(FEDERATION, 0, 12, None))]
    weights = clinic.fresh(site.site)
    for step in range(3):
        reply = site.ask(TrainRequest(FEDERATION, 0, step, 3, weights))
        assert isinstance(reply, TrainReply)
        weights = reply.weights
        replies.append(reply)
    replies.append(site.ask(EvaluateRequest(FEDERATION, 0, weights)))
    replies.append(site.ask(QueryRequest(FEDERATION, 1, 7, weights)))
    replies.append(site.ask(StatusRequest(FEDERATION, 1)))
    return replies


def test_over_the_socket_a_site_answers_as_it_does_in_process(tmp_path: Path) -> None:
    with served(tmp_path / "far", "fidal") as far:
        replies = whole_round(far)
    near = make_site(tmp_path / "near", "fidal")
    clinic.warm_up(near)
    weights = clinic.train(near)
    last = replies[3]
    assert isinstance(last, TrainReply) and torch.equal(last.weights.flat, weights.flat)
    assert replies[4] == near.evaluate(EvaluateRequest(FEDERATION, 0, weights))
    assert replies[5] == near.query(QueryRequest(FEDERATION, 1, 7, weights))
    assert replies[6] == near.status(StatusRequest(FEDERATION, 1))
    kinds = [TrainReply] * 3 + [EvaluateReply, QueryReply, StatusReply]
    assert [type(reply) for reply in replies[1:]] == kinds


def test_every_message_in_and_out_is_logged_and_no_image_is(site: Served) -> None:
    whole_round(site)
    site.refusal(StatusRequest("another", 0))
    entries = list(verified(site.folder / "audit.jsonl"))
    assert [entry["way"] for entry in entries] == ["in", "out"] * 8
    packets = [(entry["sha256"], entry["bytes"]) for entry in entries]
    assert packets == [(packet.seal.hex(), packet.size) for packet in site.packets]
    assert entries[-1]["kind"] == "Failure"
    text = (site.folder / "audit.jsonl").read_text()
    assert not any(name in text for name in site.site.data.ids)


# One message, twice


def test_a_training_request_delivered_twice_is_answered_twice_and_trained_once(
    site: Served,
) -> None:
    site.ask(QueryRequest(FEDERATION, 0, 12, None))
    weights = clinic.fresh(site.site)
    expected = clinic.make_site(site.folder.parent / "other")
    clinic.warm_up(expected)
    for step in range(3):
        request = TrainRequest(FEDERATION, 0, step, 3, weights)
        twice = [site.ask(request), site.ask(request)]
        once = expected.train(request)
        for reply in twice:
            assert isinstance(reply, TrainReply)
            assert torch.equal(reply.weights.flat, once.weights.flat) and reply.loss == once.loss
        weights = once.weights


def test_a_query_delivered_twice_asks_nothing_twice(site: Served) -> None:
    request = QueryRequest(FEDERATION, 0, 12, None)
    assert site.ask(request) == site.ask(request)
    assert len(site.site.ledger.asked()) == 12


# What is refused


def test_another_version_is_refused_and_both_are_named(site: Served) -> None:
    for stamp in (replace(STAMP, version="0.2.0"), replace(STAMP, wire=2)):
        failure = site.refusal(QueryRequest(FEDERATION, 0, 12, None), stamp)
        assert failure.trouble == "refused"
        assert "this site runs fidal 0.1.0, the coordinator 0." in failure.reason
    assert site.site.ledger.asked() == ()


def test_another_experiment_or_federation_is_refused(site: Served) -> None:
    failure = site.refusal(QueryRequest(FEDERATION, 0, 12, None), replace(STAMP, setup="ffff"))
    assert "this site has the experiment 0123456789ab, the coordinator ffff" in failure.reason
    failure = site.refusal(QueryRequest("another", 0, 12, None))
    assert failure.trouble == "refused" and "same experiment file" in failure.reason
    assert site.site.ledger.asked() == ()


def test_a_reply_is_no_request(site: Served) -> None:
    assert "takes requests" in site.refusal(Failure("east", "hello")).reason
    assert "takes requests" in site.refusal(StatusReply("east", 0, 1, 1, 1, 1, 0, 1, 0)).reason


def test_the_site_s_rules_and_switch_are_kept(tmp_path: Path) -> None:
    with served(tmp_path / "east", policy=Policy(rounds=0, budget=10)) as site:
        asks = QueryRequest(FEDERATION, 0, 12, None)
        assert "no more than 10" in site.refusal(asks).reason
        asks = replace(asks, budget=10)
        site.switch.turn("paused")
        assert site.refusal(asks) == Failure("east", "this site has paused", "absent")
        site.switch.turn("stopped")
        assert site.refusal(asks).trouble == "refused"
        site.switch.turn("on")
        assert isinstance(site.ask(asks), QueryReply)
        assert "no round after 0" in site.refusal(replace(asks, round=1)).reason


def odd_weights(site: Served) -> dict[str, Weights]:
    good = clinic.fresh(site.site)
    nan = good.flat.clone()
    nan[3] = math.nan
    other = tuple(replace(spec, name=f"{spec.name}.x") for spec in good.specs)
    turned = (replace(good.specs[0], shape=good.specs[0].shape[::-1]), *good.specs[1:])
    whole = (replace(good.specs[0], dtype="int64"), *good.specs[1:])
    huge = (TensorSpec("w", (2**40, 2**40), "float32"),)
    return {
        "NaN": Weights(good.specs, nan),
        "infinite": Weights(good.specs, good.flat * math.inf),
        "other names": Weights(other, good.flat),
        "turned shape": Weights(turned, good.flat),
        "too short": Weights(good.specs, good.flat[:-1]),
        "more than it says": Weights(good.specs[:1], good.flat),
        "absurd manifest": Weights(huge, good.flat),
        "another dtype": Weights(whole, good.flat),
        "none at all": Weights((), torch.zeros(0)),
    }


ODD = (
    *("NaN", "infinite", "other names", "turned shape", "too short", "more than it says"),
    *("absurd manifest", "another dtype", "none at all"),
)


@pytest.mark.parametrize("what", ODD)
def test_odd_weights_are_refused_before_anything_happens(site: Served, what: str) -> None:
    site.ask(QueryRequest(FEDERATION, 0, 12, None))
    good = clinic.fresh(site.site)
    first = site.ask(TrainRequest(FEDERATION, 0, 0, 3, good))
    assert isinstance(first, TrainReply)
    before = site.written()
    odd = odd_weights(site)[what]
    requests: list[Request] = [
        TrainRequest(FEDERATION, 0, 0, 3, odd),
        TrainRequest(FEDERATION, 0, 1, 3, odd),
        QueryRequest(FEDERATION, 1, 12, odd),
        EvaluateRequest(FEDERATION, 0, odd),
    ]
    for request in requests:
        failure = site.refusal(request)
        assert failure.trouble == "refused" and failure.reason.startswith("weights: ")
    assert site.written() == before
    # The training under way goes on as if nothing had come between.
    second = site.ask(TrainRequest(FEDERATION, 0, 1, 3, first.weights))
    assert isinstance(second, TrainReply)


# What errors give away


def test_errors_of_a_site_tell_their_kind_and_no_text(
    site: Served, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    secret = f"{site.folder}/patient-0815.png"

    def fails(*_: object) -> None:
        raise OSError(2, "No such file", secret)

    for error in (ValueError(secret), KeyError(secret), MemoryError(), RecursionError()):
        monkeypatch.setattr(site.site, "query", fails)
        failure = site.refusal(QueryRequest(FEDERATION, 0, 12, None))
        assert failure.trouble == "failed"
        assert "an error of the kind FileNotFoundError" in failure.reason
        assert secret not in failure.reason
        assert type(error).__name__
    with caplog.at_level(logging.ERROR):
        site.refusal(QueryRequest(FEDERATION, 0, 12, None))
    assert secret in caplog.text  # the site's own log does tell


def test_a_training_that_diverges_is_a_failure(
    site: Served, monkeypatch: pytest.MonkeyPatch
) -> None:
    weights = clinic.fresh(site.site)
    lost = Weights(weights.specs, weights.flat * math.nan)
    monkeypatch.setattr(site.site, "train", lambda _: TrainReply("east", lost, 7, math.nan))
    failure = site.refusal(TrainRequest(FEDERATION, 0, 0, 3, weights))
    assert failure.trouble == "failed" and "lower training.optimiser.lr" in failure.reason


def test_a_reply_that_may_not_leave_is_held_back(
    site: Served, monkeypatch: pytest.MonkeyPatch
) -> None:
    def gossip(request: StatusRequest) -> StatusReply:
        return StatusReply("/etc/passwd", 0, 1, 1, 1, 1, 0, 1, 0)

    monkeypatch.setattr(site.site, "status", gossip)
    failure = site.refusal(StatusRequest(FEDERATION, 0))
    assert failure == Failure("east", "the reply was held back: it may not leave the site")
    assert "passwd" not in (site.folder / "audit.jsonl").read_text()


# The recorder


def test_all_traffic_of_a_site_holds_only_what_the_list_allows(tmp_path: Path) -> None:
    """Real traffic, refusals and failures included, against `messages.py` and the names agreed."""
    with served(tmp_path / "east", "fidal") as site:
        whole_round(site)
        weights = clinic.fresh(site.site)
        site.refusal(TrainRequest(FEDERATION, 0, 2, 3, weights))
        site.refusal(EvaluateRequest(FEDERATION, 0, odd_weights(site)["other names"]))
        site.refusal(QueryRequest(FEDERATION, 0, 5, None), replace(STAMP, version="9"))
        (site.folder / "local.safetensors").write_bytes(b"damaged")
        site.refusal(QueryRequest(FEDERATION, 2, 5, weights))
        ids, packets = site.site.data.ids, site.packets
        pixels = np.asarray(site.site.data.inputs)
    known = {"east", FEDERATION, "float32", "0.1.0", "9", STAMP.setup}
    known |= {"again", "absent", "refused", "failed", "nan", "inf", "-inf"}
    known |= {spec.name for spec in weights.specs} | {f"{s.name}.x" for s in weights.specs}
    for packet in packets:
        head = json.loads(packet.head)
        assert len(packet.array) in (0, 4 * len(weights.flat))
        for key, word in words(head):
            if key == "reason":
                assert not any(part in word for part in ("/", "\\", "secret", ".safetensors"))
            else:
                assert key == "kind" or word in known, (key, word)
        everything = packet.head + bytes(packet.array)
        assert not any(name.encode() in everything for name in ids)
        assert not any(row.tobytes() in everything for row in pixels)
        assert str(tmp_path).encode() not in everything


def words(x: object, key: str = "") -> Iterator[tuple[str, str]]:
    """All texts in a head, with the field they stand in; nothing but JSON's numbers beside."""
    if isinstance(x, dict):
        for name, value in x.items():
            yield from words(value, name)
    elif isinstance(x, list):
        for value in x:
            yield from words(value, key)
    elif isinstance(x, str):
        yield key, x
    else:
        assert x is None or isinstance(x, int | float)


def test_the_recorder_would_notice() -> None:
    assert list(words(json.loads(encode(Failure("east", "no"), STAMP).head))) == [
        ("version", "0.1.0"),
        ("setup", STAMP.setup),
        ("kind", "Failure"),
        ("site", "east"),
        ("reason", "no"),
        ("trouble", "failed"),
    ]
