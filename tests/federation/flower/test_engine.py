"""The engine against sites behind their sockets, without Flower's runtime."""

import threading
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest
import torch
from flwr.app import ConfigRecord, Context, Message, RecordDict
from flwr.common.constant import ErrorCode

from fidal.federation.averaging import federated_average
from fidal.federation.codec import encode
from fidal.federation.flower import pace, posting, shim
from fidal.federation.flower.engine import Flower
from fidal.federation.flower.records import to_records
from fidal.federation.inprocess import InProcess
from fidal.federation.messages import (
    EvaluateReply,
    EvaluateRequest,
    Failure,
    QueryReply,
    QueryRequest,
    Reply,
    StatusReply,
    StatusRequest,
    TrainReply,
    TrainRequest,
    Weights,
)
from tests.federation.flower.grid import Broken, LocalGrid, Lost, Node
from tests.site import clinic
from tests.site.served import FEDERATION, STAMP, Served, served

STATUS = StatusRequest(FEDERATION, 0)


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pace, "SHORTEST", 0.005)
    monkeypatch.setattr(posting, "SOON", 0.02)
    monkeypatch.setattr(posting, "LATER", 0.05)
    monkeypatch.setattr(shim, "HOLD", 0.1)
    monkeypatch.setattr(shim, "RETRY", 0.02)


@pytest.fixture
def sites(tmp_path: Path) -> Iterator[dict[str, Served]]:
    with ExitStack() as stack:
        yield {n: stack.enter_context(served(tmp_path / n, name=n)) for n in ("east", "west")}


@pytest.fixture
def grid(sites: dict[str, Served]) -> LocalGrid:
    return LocalGrid([Node(n, site.socket, k) for k, (n, site) in enumerate(sites.items(), 1)])


@pytest.fixture
def engine(grid: LocalGrid) -> Flower:
    return Flower(grid, ("east", "west"), STAMP)  # type: ignore[arg-type]


def both(request: object) -> dict[str, object]:
    return {"east": request, "west": request}


def test_replies_are_those_of_the_in_process_engine_bit_for_bit(
    engine: Flower, grid: LocalGrid, tmp_path: Path
) -> None:
    near = InProcess([clinic.make_site(tmp_path / "near" / n, name=n) for n in ("east", "west")])
    assert engine.sites == near.sites
    weights = clinic.fresh(clinic.make_site(tmp_path / "any"))
    for step in range(-1, 4):
        request: object = QueryRequest(FEDERATION, 0, 12, None)
        if step >= 0:
            request = TrainRequest(FEDERATION, 0, step, 3, weights)
        if step == 3:
            request = EvaluateRequest(FEDERATION, 0, weights)
        far = engine.broadcast(both(request))  # type: ignore[arg-type]
        ours = near.broadcast(both(request))  # type: ignore[arg-type]
        assert list(far) == ["east", "west"]
        for site in far:
            a, b = far[site], ours[site]
            if isinstance(a, TrainReply) and isinstance(b, TrainReply):
                assert torch.equal(a.weights.flat, b.weights.flat) and a.n_labelled == b.n_labelled
            else:
                assert isinstance(a, QueryReply | EvaluateReply) and a == b
        if isinstance(request, TrainRequest):
            weights = federated_average(list(far.values()), weights)  # type: ignore[arg-type]
    kinds = [kind for _, kind in grid.pushed[::2]]
    assert kinds == ["query", "train", "train", "train", "evaluate"]


def test_only_those_who_are_asked_get_a_message(engine: Flower, grid: LocalGrid) -> None:
    assert list(engine.broadcast({"west": STATUS})) == ["west"]
    assert engine.broadcast({}) == {}
    assert grid.pushed == [("west", "query")]


def test_a_site_that_never_comes_is_absent_at_the_deadline(engine: Flower, grid: LocalGrid) -> None:
    del grid.nodes[1]
    replies = engine.broadcast(both(STATUS), deadline=0.3)  # type: ignore[arg-type]
    assert isinstance(replies["east"], StatusReply)
    assert replies["west"] == Failure("west", "not within 0.3 s, it is not connected", "absent")


def test_a_site_that_comes_late_is_asked_when_it_is_there(engine: Flower, grid: LocalGrid) -> None:
    late = grid.nodes.pop()
    threading.Timer(0.2, lambda: grid.nodes.append(late)).start()
    replies = engine.broadcast(both(STATUS), deadline=10)  # type: ignore[arg-type]
    assert isinstance(replies["west"], StatusReply)


def test_a_paused_site_is_waited_for(
    engine: Flower, grid: LocalGrid, sites: dict[str, Served]
) -> None:
    sites["west"].switch.turn("paused")
    replies = engine.broadcast({"west": STATUS}, deadline=0.3)
    assert replies["west"] == Failure("west", "not within 0.3 s, this site has paused", "absent")
    threading.Timer(0.2, lambda: sites["west"].switch.turn("on")).start()
    assert isinstance(engine.broadcast({"west": STATUS}, deadline=10)["west"], StatusReply)


def test_a_stopped_site_refuses_at_once(engine: Flower, sites: dict[str, Served]) -> None:
    sites["west"].switch.turn("stopped")
    reply = engine.broadcast({"west": STATUS}, deadline=30)["west"]
    assert isinstance(reply, Failure) and reply.trouble == "refused"


def test_a_message_that_died_with_its_node_is_sent_again_in_its_next_session(
    engine: Flower, grid: LocalGrid
) -> None:
    node = grid.nodes[1]
    whole = node.handle

    def dies(message: Message, context: Context) -> Message:
        node.handle, node.last_activated_at = whole, "tuesday"
        raise Lost

    node.handle = dies
    assert isinstance(engine.broadcast({"west": STATUS}, deadline=10)["west"], StatusReply)
    assert len(grid.pushed) == 2


def test_a_message_that_flower_gave_up_is_sent_again(engine: Flower, grid: LocalGrid) -> None:
    node = grid.nodes[1]
    whole = node.handle

    def breaks(message: Message, context: Context) -> Message:
        node.handle = whole
        raise Broken(ErrorCode.NODE_UNAVAILABLE)

    node.handle = breaks
    assert isinstance(engine.broadcast({"west": STATUS}, deadline=10)["west"], StatusReply)


def test_a_site_whose_connection_is_broken_fails_at_once(engine: Flower, grid: LocalGrid) -> None:
    def breaks(message: Message, context: Context) -> Message:
        raise Broken(ErrorCode.CLIENT_APP_RAISED_EXCEPTION)

    grid.nodes[1].handle = breaks
    failure = engine.broadcast({"west": STATUS}, deadline=30)["west"]
    said = "its connection failed, with error 2 of Flower"
    assert failure == Failure("west", said, "failed")


def test_a_site_whose_process_is_down_is_absent_and_asked_again(
    engine: Flower, grid: LocalGrid, sites: dict[str, Served], tmp_path: Path
) -> None:
    away = grid.nodes[1].socket
    grid.nodes[1].socket = tmp_path / "nobody"
    replies = engine.broadcast({"west": STATUS}, deadline=0.5)
    assert isinstance(failure := replies["west"], Failure)
    assert "the site's process does not run" in failure.reason

    threading.Timer(0.2, lambda: setattr(grid.nodes[1], "socket", away)).start()
    assert isinstance(engine.broadcast({"west": STATUS}, deadline=10)["west"], StatusReply)


# What a site may not say


def answering(
    engine: Flower, grid: LocalGrid, records: RecordDict, request: object = STATUS
) -> Reply:
    grid.nodes[1].handle = lambda message, _: Message(records, reply_to=message)
    return engine.broadcast({"west": request}, deadline=10)["west"]  # type: ignore[dict-item]


def reply(site: str = "west") -> StatusReply:
    return StatusReply(site, 0, 60, 0, 0, 0, 0, 0, 0)


def test_a_site_may_not_speak_for_another(engine: Flower, grid: LocalGrid) -> None:
    found = answering(engine, grid, to_records(encode(reply("east"), STAMP)))
    assert isinstance(found, Failure) and "another site's name" in found.reason
    assert found.site == "west"


def test_a_failure_bears_the_name_that_we_know(engine: Flower, grid: LocalGrid) -> None:
    found = answering(engine, grid, to_records(encode(Failure("east", "no"), STAMP)))
    assert found == Failure("west", "no")


def test_another_version_in_the_reply_is_a_failure(engine: Flower, grid: LocalGrid) -> None:
    other = type(STAMP)(STAMP.wire, "0.9.9", STAMP.setup)
    found = answering(engine, grid, to_records(encode(reply(), other)))
    assert isinstance(found, Failure) and "another version" in found.reason


def test_a_request_is_no_reply(engine: Flower, grid: LocalGrid) -> None:
    found = answering(engine, grid, to_records(encode(STATUS, STAMP)))
    assert isinstance(found, Failure) and "with a request" in found.reason


def test_records_that_are_none_of_ours_are_a_failure(engine: Flower, grid: LocalGrid) -> None:
    for records in (
        RecordDict({}),
        RecordDict({"head": ConfigRecord({"json": "text", "seal": b""})}),
        RecordDict({"head": ConfigRecord({"json": b"{}", "seal": b"", "more": 1})}),
        RecordDict({"head": ConfigRecord({"json": b"{}", "seal": b"x"})}),
        RecordDict({"more": ConfigRecord({})}),
    ):
        found = answering(engine, grid, records)
        assert isinstance(found, Failure) and found.trouble == "failed", records


def test_trained_weights_must_be_finite_and_of_the_network_that_was_sent(
    engine: Flower, grid: LocalGrid, sites: dict[str, Served]
) -> None:
    sent = clinic.fresh(sites["west"].site)
    request = TrainRequest(FEDERATION, 0, 0, 3, sent)
    for flat, says in ((sent.flat * float("inf"), "infinite"), (sent.flat[:-1], "manifest")):
        trained = TrainReply("west", Weights(sent.specs, flat), 5, 0.1)
        found = answering(engine, grid, to_records(encode(trained, STAMP)), request)
        assert isinstance(found, Failure) and says in found.reason
