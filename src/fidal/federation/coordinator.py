"""The coordinator: warm-up, then query, answers, train, evaluate, round after round.

One way: weights go out, weights and counts come back. After each phase the state is handed to
`save`; a run that was killed goes on from the last saved state, and since every draw is a function
of (seed, purpose, site, round), it goes on exactly as it would have.

A site that does not answer in time, or refuses, is missing for the rest of its round: the round
goes on without it, says so, and asks it again in the next.
"""

import logging
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Final, TypeVar

from fidal.federation.averaging import Average, FederatedAverage
from fidal.federation.engine import Engine, FederationError
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
from fidal.federation.state import Plan, RoundResult, State, Told

R = TypeVar("R", bound=Reply)

log = logging.getLogger(__name__)

ATTEMPTS: Final = 4
"""So often is a round's training begun before a site that loses it every time is left out."""

SOON: Final = 30.0
"""Seconds that a site has at least to say how far its people are."""

WORDS: Final = {"failed": "failed", "absent": "did not answer", "refused": "refused"}


@dataclass(frozen=True, eq=False)
class Coordinator:
    """`fresh(round)` makes the initial weights of an AL round; `told` hears what goes on."""

    engine: Engine
    plan: Plan
    fresh: Callable[[int], Weights]
    save: Callable[[State], None]
    told: Told = lambda phase, round, done, all: None
    average: Average = field(default_factory=FederatedAverage)
    clock: Callable[[], float] = time.time
    rest: Callable[[float], None] = time.sleep

    def run(self, state: State) -> Iterator[RoundResult]:
        """From `state` to the end. A result is yielded before the state that follows is saved, so
        whoever consumes it may see it twice after a kill, and never misses it.
        """
        while not state.done:
            if state.phase == "query":
                state = self._query(state)
            elif state.phase == "answer":
                state = self._answer(state)
            elif state.phase == "train":
                state = self._train(state)
            else:
                result = self._evaluate(state)
                yield result
                last = state.round >= self.plan.rounds
                state = replace(state, round=state.round + 1, phase="query", missing={}, done=last)
            self.save(state)

    def _query(self, state: State) -> State:
        self.told("query", state.round, 0, 1)
        plan, round = self.plan, state.round
        replies, lost = self._ask(
            {
                site: QueryRequest(
                    plan.federation, round, plan.budgets[site], state.weights, site in state.trained
                )
                for site in self.engine.sites
            },
            QueryReply,
            plan.patience.request,
        )
        missing = self._without("query", round, {}, lost)
        if not missing and not any(reply.asked for reply in replies.values()):
            return replace(state, queried=replies, missing={}, done=True)  # all pools are exhausted
        idle = {site: _idle(state.queried[site], round) for site in lost if site in state.queried}
        state = replace(state, queried={**replies, **idle}, missing=missing)
        if not _waiting(state.queried):
            return replace(state, phase="train")
        wait = plan.patience.answers
        return replace(state, phase="answer", until=None if wait is None else self.clock() + wait)

    def _answer(self, state: State) -> State:
        """Ask how far people are until they are done or their time is over."""
        queried = dict(state.queried)
        while True:
            over = state.until is not None and self.clock() >= state.until
            waiting = _waiting(queried)
            request = StatusRequest(self.plan.federation, state.round)
            seconds = max(self.plan.patience.poll, SOON)
            replies, _ = self._ask(dict.fromkeys(waiting, request), StatusReply, seconds)
            for site, reply in replies.items():
                queried[site] = _updated(queried[site], reply)
            answered = sum(reply.answered for reply in queried.values())
            asked = sum(reply.asked for reply in queried.values())
            self.told("answer", state.round, answered, asked)
            if over or not _waiting(queried):
                return replace(state, queried=queried, phase="train", until=None)
            self.rest(self.plan.patience.poll)

    def _train(self, state: State) -> State:
        plan, round = self.plan, state.round
        start = self.fresh(round) if plan.reinitialise else state.weights or self.fresh(0)
        weights, missing, step, begun = start, dict(state.missing), 0, 1
        while step < plan.steps:
            self.told("train", round, step, plan.steps)
            sites = [site for site in self.engine.sites if site not in missing]
            request = TrainRequest(plan.federation, round, step, plan.steps, weights)
            requests = dict.fromkeys(sites, request)
            replies, lost = self._ask(requests, TrainReply, plan.patience.request)
            if begun < ATTEMPTS and any(failure.trouble == "again" for failure in lost.values()):
                log.warning("round %d: %s; training begins again", round, _reasons(lost))
                weights, step, begun = start, 0, begun + 1
                continue
            missing = self._without("training", round, missing, lost)
            weights = self.average(list(replies.values()), weights)
            step += 1
        return replace(
            state, weights=weights, phase="evaluate", missing=missing, trained=tuple(replies)
        )

    def _evaluate(self, state: State) -> RoundResult:
        self.told("evaluate", state.round, 0, 1)
        assert state.weights is not None
        request = EvaluateRequest(self.plan.federation, state.round, state.weights)
        sites = [site for site in self.engine.sites if site not in state.missing]
        requests = dict.fromkeys(sites, request)
        replies, lost = self._ask(requests, EvaluateReply, self.plan.patience.request)
        return RoundResult(
            state.round,
            state.queried,
            replies,
            state.weights,
            self._without("evaluation", state.round, state.missing, lost),
            self.average.spent(),
        )

    def _ask(
        self, requests: Mapping[str, Request], kind: type[R], deadline: float | None
    ) -> tuple[dict[str, R], dict[str, Failure]]:
        """Replies, and failures."""
        fit: dict[str, R] = {}
        lost: dict[str, Failure] = {}
        for site, reply in self.engine.broadcast(requests, deadline).items():
            if isinstance(reply, Failure):
                lost[site] = reply
            elif isinstance(reply, kind):
                fit[site] = reply
            else:
                wrong = f"{type(reply).__name__} in place of {kind.__name__}"
                lost[site] = Failure(site, f"it answered {wrong}")
        return fit, lost

    def _without(
        self, phase: str, round: int, before: Mapping[str, str], lost: Mapping[str, Failure]
    ) -> dict[str, str]:
        """All sites missing by now; an error if too few are left."""
        missing = {**before, **{site: _reason(failure) for site, failure in lost.items()}}
        quorum = self.plan.patience.quorum
        needed = len(self.engine.sites) if quorum is None else quorum
        there = len(self.engine.sites) - len(missing)
        if there < needed:
            said = "; ".join(f"site '{site}' {reason}" for site, reason in missing.items())
            raise FederationError(
                f"round {round}, {phase}: {there} of {len(self.engine.sites)} sites are left, "
                f"{needed} are needed: {said}"
            )
        if lost:
            log.warning("round %d, %s: it goes on without %s", round, phase, _reasons(lost))
        return missing


def _reason(failure: Failure) -> str:
    return f"{WORDS.get(failure.trouble, 'failed')}: {failure.reason}"


def _reasons(lost: Mapping[str, Failure]) -> str:
    return "; ".join(f"site '{site}' ({_reason(failure)})" for site, failure in lost.items())


def _waiting(queried: Mapping[str, QueryReply]) -> list[str]:
    """Sites whose people have not answered all."""
    return [site for site, reply in queried.items() if reply.answered < reply.asked]


def _updated(queried: QueryReply, status: StatusReply) -> QueryReply:
    return replace(
        queried,
        answered=status.answered,
        answered_id=status.answered_id,
        answered_ood=status.answered_ood,
        labelled=status.labelled,
        outliers=status.outliers,
    )


def _idle(last: QueryReply, round: int) -> QueryReply:
    """A missing site: its totals stand, nothing is added to them."""
    return QueryReply(
        site=last.site,
        round=round,
        candidates=0,
        asked=0,
        answered=0,
        answered_id=0,
        answered_ood=0,
        labelled=last.labelled,
        outliers=last.outliers,
        filled=0,
        gate=None,
        pool_ood_share=None,
    )
