from collections.abc import Mapping
from dataclasses import dataclass, field

import pytest
import torch

from fidal.federation.coordinator import Coordinator
from fidal.federation.engine import FederationError
from fidal.federation.messages import (
    EvaluateReply,
    EvaluateRequest,
    Failure,
    QueryReply,
    QueryRequest,
    Reply,
    Request,
    TensorSpec,
    TrainReply,
    TrainRequest,
    Weights,
)
from fidal.federation.state import Plan, RoundResult, State

SPECS = (TensorSpec("w", (1,), "float32"),)
PLAN = Plan("fed", rounds=2, budgets={"a": 3, "b": 5}, steps=2, reinitialise=True)


def weights(x: float) -> Weights:
    return Weights(SPECS, torch.tensor([x]))


@dataclass
class Arithmetic:
    """A federation whose training adds the number of the site: 1 at a, 3 at b."""

    stock: dict[str, int] = field(default_factory=lambda: {"a": 100, "b": 100})
    heard: list[Request] = field(default_factory=list)
    fails: bool = False
    sites: tuple[str, ...] = ("a", "b")

    def broadcast(
        self, requests: Mapping[str, Request], deadline: float | None = None
    ) -> dict[str, Reply]:
        return {site: self._reply(site, request) for site, request in requests.items()}

    def _reply(self, site: str, request: Request) -> Reply:
        self.heard.append(request)
        if self.fails:
            return Failure(site, "the roof leaks")
        if isinstance(request, TrainRequest):
            step = {"a": 1.0, "b": 3.0}[site]
            return TrainReply(site, Weights(SPECS, request.weights.flat + step), 10, 0.5)
        if isinstance(request, QueryRequest):
            asked = min(request.budget, self.stock[site])
            self.stock[site] -= asked
            n = request.round
            return QueryReply(site, n, 9, asked, asked, asked, 0, asked, 0, 0, None, None)
        assert isinstance(request, EvaluateRequest)
        return EvaluateReply(site, request.round, ((1, 0), (0, 1)), 0.0, 0.0)


def run(engine: Arithmetic, plan: Plan = PLAN, state: State | None = None) -> list[RoundResult]:
    coordinator = Coordinator(engine, plan, lambda round: weights(10.0 * round), lambda state: None)
    return list(coordinator.run(state or State()))


def test_each_round_queries_trains_and_evaluates() -> None:
    engine = Arithmetic()
    results = run(engine)
    kinds = [type(request).__name__.removesuffix("Request") for request in engine.heard]
    one_round = ["Query"] * 2 + ["Train"] * 4 + ["Evaluate"] * 2
    assert kinds == one_round * 3
    assert [r.round for r in results] == [0, 1, 2]


def test_training_averages_after_every_step_and_starts_afresh() -> None:
    # Each step adds the mean of 1 and 3, so two steps add 4 to the fresh 10 r.
    assert [r.weights.flat.item() for r in run(Arithmetic())] == [4, 14, 24]


def test_without_reinitialisation_training_goes_on() -> None:
    plan = Plan("fed", 2, {"a": 3, "b": 5}, steps=2, reinitialise=False)
    assert [r.weights.flat.item() for r in run(Arithmetic(), plan)] == [4, 8, 12]


def test_the_warm_up_has_no_weights_and_queries_use_the_last_global_model() -> None:
    engine = Arithmetic()
    run(engine)
    queries = [r for r in engine.heard if isinstance(r, QueryRequest)]
    sent = [q.weights.flat.item() if q.weights else None for q in queries[::2]]
    assert sent == [None, 4, 14]
    assert [q.budget for q in queries[:2]] == [3, 5]


def test_exhausted_pools_end_the_run() -> None:
    engine = Arithmetic(stock={"a": 3, "b": 7})
    results = run(engine, Plan("fed", 9, {"a": 3, "b": 5}, 1, True))
    # Round 0 takes all of a and five of b, round 1 the two that are left, round 2 finds nothing.
    assert [r.round for r in results] == [0, 1]
    assert results[1].queried["a"].asked == 0
    assert results[1].queried["b"].asked == 2


def test_going_on_from_any_saved_state_gives_the_same_results() -> None:
    saved: list[State] = [State()]
    engine = Arithmetic()
    whole = list(Coordinator(engine, PLAN, lambda r: weights(10.0 * r), saved.append).run(State()))
    for state in saved:
        rest = run(Arithmetic(), state=state)
        assert [(r.round, r.weights.flat.item()) for r in rest] == [
            (r.round, r.weights.flat.item()) for r in whole[len(whole) - len(rest) :]
        ]
    assert saved[-1].done
    assert run(Arithmetic(), state=saved[-1]) == []


def test_a_failure_names_the_site_and_its_reason() -> None:
    with pytest.raises(FederationError, match="site 'a' failed: the roof leaks"):
        run(Arithmetic(fails=True))
