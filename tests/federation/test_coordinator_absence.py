"""Sites that are late, refuse, lose a round or never come, and people who take their time."""

import logging
from collections.abc import Mapping
from dataclasses import dataclass, field, replace

import pytest
import torch

from fidal.federation.coordinator import ATTEMPTS, SOON, Coordinator
from fidal.federation.engine import FederationError
from fidal.federation.messages import (
    EvaluateReply,
    EvaluateRequest,
    Failure,
    QueryReply,
    QueryRequest,
    Reply,
    Request,
    StatusReply,
    StatusRequest,
    TrainReply,
    TrainRequest,
    Weights,
)
from fidal.federation.state import Patience, Plan, RoundResult, State
from tests.federation.test_coordinator import SPECS, weights

PATIENCE = Patience(request=5.0, answers=100.0, poll=10.0, quorum=2)
PLAN = Plan("fed", 2, {"a": 4, "b": 4, "c": 4}, steps=3, reinitialise=True, patience=PATIENCE)
ADDS = {"a": 1.0, "b": 3.0, "c": 5.0}


@dataclass
class Clinics:
    """Three sites whose training adds 1, 3 and 5. `trouble` says what a site answers instead, by
    (site, kind of request, round, step); people answer `pace` images per question."""

    trouble: dict[tuple[str, str, int, int], Failure] = field(default_factory=dict)
    pace: int = 4
    heard: list[tuple[str, Request, float | None]] = field(default_factory=list)
    answered: dict[str, int] = field(default_factory=dict)
    seconds: float = 0.0
    sites: tuple[str, ...] = ("a", "b", "c")

    def broadcast(
        self, requests: Mapping[str, Request], deadline: float | None = None
    ) -> dict[str, Reply]:
        for site, request in requests.items():
            self.heard.append((site, request, deadline))
        return {site: self._reply(site, request) for site, request in requests.items()}

    def _reply(self, site: str, request: Request) -> Reply:
        kind = type(request).__name__.removesuffix("Request")
        key = (site, kind, request.round, getattr(request, "step", 0))
        if key in self.trouble:
            failure = self.trouble[key]
            if failure.trouble == "again":
                del self.trouble[key]
            return failure
        n = request.round
        if isinstance(request, TrainRequest):
            moved = Weights(SPECS, request.weights.flat + ADDS[site])
            return TrainReply(site, moved, 10, 0.5)
        if isinstance(request, QueryRequest):
            self.answered[site] = 0
            return QueryReply(site, n, 9, 4, 0, 0, 0, 4 * n, 0, 0, None, None)
        if isinstance(request, EvaluateRequest):
            return EvaluateReply(site, n, ((1, 0), (0, 1)), 0.0, 0.0)
        done = self.answered[site] = min(4, self.answered[site] + self.pace)
        return StatusReply(site, n, 50, 4, done, done, 0, 4 * n + done, 0)

    def asked(self, kind: type[Request], round: int) -> list[str]:
        return [
            s for s, request, _ in self.heard if type(request) is kind and request.round == round
        ]


def run(clinics: Clinics, plan: Plan = PLAN, state: State | None = None) -> list[RoundResult]:
    def rest(seconds: float) -> None:
        clinics.seconds += seconds

    coordinator = Coordinator(
        clinics,
        plan,
        lambda round: weights(10.0 * round),
        lambda state: None,
        clock=lambda: clinics.seconds,
        rest=rest,
    )
    return list(coordinator.run(state or State()))


def absent(
    site: str, kind: str, *places: tuple[int, int]
) -> dict[tuple[str, str, int, int], Failure]:
    failure = Failure(site, "no answer", "absent")
    return {(site, kind, round, step): failure for round, step in places}


def test_training_waits_for_people_and_counts_all_their_answers() -> None:
    clinics = Clinics(pace=1)
    first = run(clinics)[0]
    assert [reply.answered for reply in first.queried.values()] == [4, 4, 4]
    assert [reply.labelled for reply in first.queried.values()] == [4, 4, 4]
    assert len(clinics.asked(StatusRequest, 0)) == 4 * 3
    assert clinics.seconds == 3 * 3 * 10.0  # three pauses in each of three rounds


def test_at_the_deadline_partly_answered_worklists_count_as_they_are() -> None:
    clinics = Clinics(pace=0)
    results = run(clinics)
    assert [r.queried["a"].answered for r in results] == [0, 0, 0]
    assert clinics.seconds == 3 * 100.0
    assert results[0].missing == {}


def test_the_deadline_stands_over_a_restart_of_the_coordinator() -> None:
    clinics = Clinics(pace=0)
    saved: list[State] = []
    coordinator = Coordinator(
        clinics, PLAN, lambda r: weights(0), saved.append, clock=lambda: clinics.seconds
    )
    coordinator = replace(coordinator, rest=lambda s: (_ for _ in ()).throw(KeyboardInterrupt()))
    with pytest.raises(KeyboardInterrupt):
        list(coordinator.run(State()))
    assert saved[-1].phase == "answer" and saved[-1].until == 100.0
    clinics.seconds = 99.0
    run(clinics, replace(PLAN, rounds=0), saved[-1])
    assert 100.0 <= clinics.seconds < 120.0


def test_a_round_goes_on_without_a_site_that_does_not_come_and_says_so(
    caplog: pytest.LogCaptureFixture,
) -> None:
    clinics = Clinics(absent("b", "Query", (1, 0)))
    with caplog.at_level(logging.WARNING):
        results = run(clinics)
    assert [r.missing for r in results] == [{}, {"b": "did not answer: no answer"}, {}]
    assert "round 1, query: it goes on without site 'b' (did not answer: no answer)" in caplog.text
    assert [r.weights.flat.item() for r in results] == [9.0, 10 + 9.0, 20 + 9.0]
    assert list(results[1].evaluated) == ["a", "c"]
    assert "b" not in clinics.asked(TrainRequest, 1) + clinics.asked(StatusRequest, 1)


def test_totals_of_a_missing_site_stand() -> None:
    results = run(Clinics(absent("b", "Query", (1, 0))))
    assert [r.queried["b"].labelled for r in results] == [4, 4, 12]
    assert [r.queried["b"].asked for r in results] == [4, 0, 4]


def test_a_site_that_missed_the_training_is_told_so_when_it_is_asked_again() -> None:
    clinics = Clinics(absent("c", "Train", (0, 1)))
    run(clinics)
    queries = [(s, r.round, r.trained) for s, r, _ in clinics.heard if isinstance(r, QueryRequest)]
    assert [q for q in queries if q[1] == 1] == [("a", 1, True), ("b", 1, True), ("c", 1, False)]
    assert [q for q in queries if q[1] == 2] == [(s, 2, True) for s in "abc"]


def test_a_site_lost_in_training_is_left_out_of_the_rest_of_the_round() -> None:
    clinics = Clinics(absent("c", "Train", (0, 1)))
    first = run(clinics)[0]
    assert first.weights.flat.item() == 3.0 + 2.0 + 2.0
    assert list(first.missing) == ["c"] and list(first.evaluated) == ["a", "b"]


def test_a_site_that_lost_the_round_makes_its_training_begin_again() -> None:
    clinics = Clinics({("b", "Train", 0, 2): Failure("b", "killed", "again")})
    results = run(clinics)
    assert [r.weights.flat.item() for r in results] == [
        r.weights.flat.item() for r in run(Clinics())
    ]
    steps = [r.step for s, r, _ in clinics.heard if isinstance(r, TrainRequest) and s == "a"]
    assert steps[:6] == [0, 1, 2, 0, 1, 2]
    assert results[0].missing == {}


def test_a_site_that_loses_every_attempt_is_left_out() -> None:
    class Forgetful(Clinics):
        def _reply(self, site: str, request: Request) -> Reply:
            if site == "b" and isinstance(request, TrainRequest) and request.step == 1:
                return Failure("b", "killed", "again")
            return super()._reply(site, request)

    clinics = Forgetful()
    first = run(clinics, replace(PLAN, rounds=0))[0]
    assert list(first.missing) == ["b"]
    steps = [r.step for s, r, _ in clinics.heard if isinstance(r, TrainRequest) and s == "a"]
    assert steps == [0, 1] * ATTEMPTS + [2]


def test_too_few_sites_end_the_run_with_all_reasons() -> None:
    trouble = absent("a", "Query", (0, 0))
    trouble["c", "Query", 0, 0] = Failure("c", "another version", "refused")
    said = "1 of 3 sites are left, 2 are needed: site 'a' did not answer: .*'c' refused: another"
    with pytest.raises(FederationError, match=said):
        run(Clinics(trouble))


def test_a_missing_site_does_not_make_the_pools_look_exhausted() -> None:
    class Empty(Clinics):
        def _reply(self, site: str, request: Request) -> Reply:
            reply = super()._reply(site, request)
            return replace(reply, asked=0) if isinstance(reply, QueryReply) else reply

    assert run(Empty()) == []
    assert len(run(Empty(absent("b", "Query", (0, 0))))) == 1


def test_requests_have_the_plans_deadline_and_questions_about_progress_a_short_one() -> None:
    clinics = Clinics(pace=1)
    run(clinics, replace(PLAN, rounds=0))
    times = {type(request).__name__: deadline for _, request, deadline in clinics.heard}
    assert times == {
        **dict.fromkeys(["QueryRequest", "TrainRequest", "EvaluateRequest"], 5.0),
        "StatusRequest": SOON,
    }


def test_an_answer_of_another_kind_is_that_sites_failure() -> None:
    class Odd(Clinics):
        def _reply(self, site: str, request: Request) -> Reply:
            if site == "a" and isinstance(request, EvaluateRequest):
                return StatusReply("a", 0, 1, 1, 1, 1, 0, 1, 0)
            return super()._reply(site, request)

    (first,) = run(Odd(), replace(PLAN, rounds=0))
    assert first.missing == {"a": "failed: it answered StatusReply in place of EvaluateReply"}
    assert torch.equal(first.weights.flat, run(Clinics(), replace(PLAN, rounds=0))[0].weights.flat)
