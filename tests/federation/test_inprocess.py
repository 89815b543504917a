"""The in-process engine: what it adds to the sites' own methods, and to a GPU's graphs."""

from dataclasses import replace
from functools import partial
from pathlib import Path

import pytest
import torch

from fidal.federation.averaging import federated_average
from fidal.federation.inprocess import InProcess, use_cores
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
    Weights,
)
from fidal.learning import trainer
from fidal.learning.graphs import Graphs
from fidal.site.site import Site
from tests.site.clinic import fresh, make_site


def two(folder: Path, strategy: str = "random", device: str = "cpu") -> list[Site]:
    made = [make_site(folder / name, strategy, name=name) for name in ("west", "east")]
    if device == "cpu":
        return made
    setup = made[0].setup
    setup = replace(setup, training=setup.training.model_copy(update={"device": device}))
    return [Site(s.data, setup, s.ledger, s.oracle, s.folder) for s in made]


def run(engine: InProcess, first: Weights, rounds: int = 3) -> Weights:
    """Warm-up, then so many AL rounds of three communication rounds. Out: the last weights."""
    weights = first
    for round in range(rounds):
        sent = None if round == 0 else weights
        query = {s: QueryRequest("toy-federation", round, 12, sent) for s in engine.sites}
        assert all(isinstance(r, QueryReply) for r in engine.broadcast(query).values())
        weights = first
        for step in range(3):
            request = TrainRequest("toy-federation", round, step, 3, weights)
            replies = engine.broadcast(dict.fromkeys(engine.sites, request))
            trained = [r for r in replies.values() if isinstance(r, TrainReply)]
            assert len(trained) == len(engine.sites)
            weights = federated_average(trained, fallback=weights)
    return weights


def worklists(made: list[Site], rounds: int = 3) -> list[tuple[str, ...] | None]:
    return [site.ledger.worklist(round) for site in made for round in range(rounds)]


@pytest.fixture
def sites(tmp_path: Path) -> list[Site]:
    return two(tmp_path)


def test_each_request_reaches_its_site_and_gets_its_kind_of_reply(sites: list[Site]) -> None:
    engine, weights = InProcess(sites), fresh(sites[0])
    assert engine.sites == ("west", "east")
    requests: dict[type, Request] = {
        StatusReply: StatusRequest("f", 0),
        QueryReply: QueryRequest("f", 0, 6, None),
        TrainReply: TrainRequest("f", 0, 0, 1, weights),
        EvaluateReply: EvaluateRequest("f", 0, weights),
    }
    for kind, request in requests.items():
        replies = engine.broadcast(dict.fromkeys(engine.sites, request))
        assert list(replies) == ["west", "east"]
        for name, reply in replies.items():
            assert isinstance(reply, kind) and getattr(reply, "site", None) == name
    only = engine.broadcast({"east": StatusRequest("f", 0)})
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


def test_replies_are_the_sites_own_in_the_order_asked(tmp_path: Path) -> None:
    engine, alone = InProcess(two(tmp_path / "a")), two(tmp_path / "b")
    first = fresh(alone[0])
    weights = run(engine, first, rounds=1)
    for site in alone:
        site.query(QueryRequest("toy-federation", 0, 12, None))
    own = first
    for step in range(3):
        request = TrainRequest("toy-federation", 0, step, 3, own)
        own = federated_average([site.train(request) for site in alone], fallback=own)
    assert torch.equal(weights.flat, own.flat)
    request = EvaluateRequest("toy-federation", 0, weights)
    replies = engine.broadcast({"west": request, "east": request})
    assert list(replies) == ["west", "east"]
    assert replies["east"] == alone[1].evaluate(request)


def test_threads_are_the_cores_of_this_process_unless_told_otherwise(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    before = torch.get_num_threads()
    monkeypatch.setattr("os.sched_getaffinity", lambda _: {0, 1, 5})
    try:
        monkeypatch.setenv("OMP_NUM_THREADS", "2")
        use_cores()
        assert torch.get_num_threads() == before
        monkeypatch.delenv("OMP_NUM_THREADS")
        use_cores()
        assert torch.get_num_threads() == 3
    finally:
        torch.set_num_threads(before)


@pytest.mark.gpu
@pytest.mark.parametrize("strategy", ["fidal", "badge", "feal", "lfosa", "eoal", "pal"])
def test_a_linear_probes_queries_are_the_same_with_and_without_graphs(
    strategy: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    captured = two(tmp_path / "captured", strategy, "cuda")
    first = fresh(captured[0])
    ours = run(InProcess(captured), first)
    monkeypatch.setattr(trainer, "Graphs", partial(Graphs, capture=False))
    plain = two(tmp_path / "plain", strategy, "cuda")
    theirs = run(InProcess(plain), first)
    assert worklists(captured) == worklists(plain)
    assert torch.equal(ours.flat, theirs.flat)


@pytest.mark.gpu
def test_weights_are_averaged_on_the_gpu_as_on_the_cpu(tmp_path: Path) -> None:
    made = two(tmp_path, "fidal", "cuda")
    engine = InProcess(made)
    first = fresh(made[0])
    run(engine, first, rounds=1)
    request = TrainRequest("toy-federation", 0, 0, 3, first)
    replies = engine.broadcast(dict.fromkeys(engine.sites, request))
    trained = [r for r in replies.values() if isinstance(r, TrainReply)]
    assert all(r.weights.flat.is_cuda for r in trained)
    moved = [replace(r, weights=Weights(r.weights.specs, r.weights.flat.cpu())) for r in trained]
    ours, theirs = federated_average(trained, first), federated_average(moved, first)
    assert ours.flat.is_cuda
    torch.testing.assert_close(ours.flat.cpu(), theirs.flat, rtol=1e-6, atol=1e-7)
