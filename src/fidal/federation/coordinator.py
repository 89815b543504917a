"""The coordinator: warm-up, then train, evaluate, query, round after round.

One way: weights go out, weights and counts come back. After each phase the state is handed to
`save`; a run that was killed goes on from the last saved state, and since every draw is a function
of (seed, purpose, site, round), it goes on exactly as it would have.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Literal, TypeVar

from fidal.federation.averaging import federated_average
from fidal.federation.engine import Engine, FederationError
from fidal.federation.messages import (
    EvaluateReply,
    EvaluateRequest,
    Failure,
    QueryReply,
    QueryRequest,
    Reply,
    Request,
    TrainReply,
    TrainRequest,
    Weights,
)

Phase = Literal["query", "train", "evaluate"]
R = TypeVar("R", bound=TrainReply | QueryReply | EvaluateReply)


@dataclass(frozen=True)
class Plan:
    """What the coordinator was told to do."""

    federation: str
    rounds: int
    """R: query rounds after the warm-up, which is round 0."""
    budgets: Mapping[str, int]
    """B_k: images per site and round."""
    steps: int
    """T: communication rounds between two queries."""
    reinitialise: bool


@dataclass(frozen=True, eq=False)
class State:
    """All that a coordinator must remember between two phases."""

    round: int = 0
    phase: Phase = "query"
    """What comes next."""
    weights: Weights | None = None
    """The global model of the last finished training."""
    queried: Mapping[str, QueryReply] = field(default_factory=dict)
    """Replies to this round's query."""
    done: bool = False


@dataclass(frozen=True, eq=False)
class RoundResult:
    """What one round ended with, per site."""

    round: int
    queried: Mapping[str, QueryReply]
    evaluated: Mapping[str, EvaluateReply]
    weights: Weights


@dataclass(frozen=True, eq=False)
class Coordinator:
    """`fresh(round)` makes the initial weights of an AL round; `told` hears what goes on."""

    engine: Engine
    plan: Plan
    fresh: Callable[[int], Weights]
    save: Callable[[State], None]
    told: Callable[[Phase, int, int, int], None] = lambda phase, round, step, steps: None

    def run(self, state: State) -> Iterator[RoundResult]:
        """From `state` to the end. A result is yielded before the state that follows is saved, so
        whoever consumes it may see it twice after a kill, and never misses it.
        """
        while not state.done:
            if state.phase == "query":
                state = self._query(state)
            elif state.phase == "train":
                state = self._train(state)
            else:
                result = self._evaluate(state)
                yield result
                last = state.round >= self.plan.rounds
                state = replace(state, round=state.round + 1, phase="query", done=last)
            self.save(state)

    def _query(self, state: State) -> State:
        self.told("query", state.round, 0, 1)
        plan = self.plan
        requests = {
            site: QueryRequest(plan.federation, state.round, plan.budgets[site], state.weights)
            for site in self.engine.sites
        }
        replies = self._ask(requests, QueryReply)
        if not any(reply.asked for reply in replies.values()):
            return replace(state, queried=replies, done=True)  # all pools are exhausted
        return replace(state, queried=replies, phase="train")

    def _train(self, state: State) -> State:
        plan, round = self.plan, state.round
        weights = self.fresh(round) if plan.reinitialise else state.weights or self.fresh(0)
        for step in range(plan.steps):
            self.told("train", round, step, plan.steps)
            requests = {
                site: TrainRequest(plan.federation, round, step, plan.steps, weights)
                for site in self.engine.sites
            }
            replies = self._ask(requests, TrainReply)
            weights = federated_average(list(replies.values()), fallback=weights)
        return replace(state, weights=weights, phase="evaluate")

    def _evaluate(self, state: State) -> RoundResult:
        self.told("evaluate", state.round, 0, 1)
        assert state.weights is not None
        requests = {
            site: EvaluateRequest(self.plan.federation, state.round, state.weights)
            for site in self.engine.sites
        }
        replies = self._ask(requests, EvaluateReply)
        return RoundResult(state.round, state.queried, replies, state.weights)

    def _ask(self, requests: Mapping[str, Request], kind: type[R]) -> dict[str, R]:
        replies: dict[str, Reply] = self.engine.broadcast(requests)
        fit: dict[str, R] = {}
        for site, reply in replies.items():
            if isinstance(reply, Failure):
                raise FederationError(f"site '{site}' failed: {reply.reason}")
            if not isinstance(reply, kind):
                got = type(reply).__name__
                raise FederationError(f"site '{site}' answered {got} in place of {kind.__name__}")
            fit[site] = reply
        return fit
