from pathlib import Path

import pytest

from fidal.federation.inprocess import InProcess
from fidal.federation.messages import (
    EvaluateReply,
    EvaluateRequest,
    Failure,
    QueryReply,
    QueryRequest,
    Request,
    StatusReply,
    StatusRequest,
    TrainReply,
    TrainRequest,
)
from fidal.site.site import Site
from tests.site.clinic import fresh, make_site


@pytest.fixture
def sites(tmp_path: Path) -> list[Site]:
    return [make_site(tmp_path / name, name=name) for name in ("west", "east")]


def test_each_request_reaches_its_site_and_gets_its_kind_of_reply(sites: list[Site]) -> None:
    engine, weights = InProcess(sites), fresh(sites[0])
    assert engine.sites == ("west", "east")
    requests: dict[type, Request] = {
        StatusReply: StatusRequest("f"),
        QueryReply: QueryRequest("f", 0, 6, None),
        TrainReply: TrainRequest("f", 0, 0, 1, weights),
        EvaluateReply: EvaluateRequest("f", 0, weights),
    }
    for kind, request in requests.items():
        replies = engine.broadcast(dict.fromkeys(engine.sites, request))
        assert list(replies) == ["west", "east"]
        for name, reply in replies.items():
            assert isinstance(reply, kind) and getattr(reply, "site", None) == name
    only = engine.broadcast({"east": StatusRequest("f")})
    assert list(only) == ["east"]


def test_what_a_site_can_not_do_is_its_failure_and_the_others_go_on(sites: list[Site]) -> None:
    weights = fresh(sites[0])
    replies = InProcess(sites).broadcast(
        {"west": TrainRequest("f", 0, 1, 3, weights), "east": TrainRequest("f", 0, 0, 3, weights)}
    )
    failure = replies["west"]
    assert isinstance(failure, Failure) and "start the round again" in failure.reason
    assert not failure.reason.startswith("site")  # the failure names it already
    assert isinstance(replies["east"], TrainReply)


def test_a_bug_is_not_a_failure(sites: list[Site], monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(request: TrainRequest) -> TrainReply:
        raise KeyError("a bug")

    monkeypatch.setattr(sites[0], "train", broken)
    with pytest.raises(KeyError, match="a bug"):
        InProcess(sites).broadcast({"west": TrainRequest("f", 0, 0, 1, fresh(sites[0]))})


def test_the_clock_hears_of_everything_that_was_carried_out(sites: list[Site]) -> None:
    heard: list[tuple[str, str, bool]] = []

    def clock(site: str, request: Request, seconds: float, peak: int) -> None:
        heard.append((site, type(request).__name__, seconds > 0 and peak > 2**20))

    engine, weights = InProcess(sites, clock), fresh(sites[0])
    engine.broadcast({name: QueryRequest("f", 0, 6, None) for name in engine.sites})
    engine.broadcast({"west": TrainRequest("f", 0, 1, 3, weights)})  # fails
    assert heard == [("west", "QueryRequest", True), ("east", "QueryRequest", True)]
