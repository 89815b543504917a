"""One clinic: it owns images, ledger and model, and answers the coordinator's requests."""

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

import numpy as np
import torch
from numpy.typing import NDArray

from fidal.data.sites import SiteData
from fidal.federation.messages import (
    EvaluateReply,
    EvaluateRequest,
    QueryReply,
    QueryRequest,
    StatusReply,
    StatusRequest,
    TensorSpec,
    TrainReply,
    TrainRequest,
    Weights,
)
from fidal.federation.weights import check
from fidal.learning.batches import TrainingSet
from fidal.learning.feed import Feed
from fidal.learning.flat import Flat
from fidal.learning.networks import Architecture, Network, build
from fidal.learning.side_by_side import side_by_side
from fidal.learning.trainer import Learner, LocalRound, Training, make_learner, restart
from fidal.seeds import numpy_generator, seed_of, torch_generator
from fidal.site.draws import scored, warm_up
from fidal.site.knowledge import Knowledge, known_before
from fidal.site.ledger import Ledger
from fidal.site.local_model import load_local, save_local
from fidal.site.oracle import Oracle
from fidal.site.pooling import make_pool
from fidal.site.refusal import Refusal
from fidal.site.reporting import evaluate, gate_report, status, write_query
from fidal.strategies.base import Strategy
from fidal.types import OUTLIER, Query

NOT_TRAINED: Final = "the site was not in the last training; the global model stands for its own"


@dataclass(frozen=True)
class Setup:
    """What all sites of a federation agree on before it starts."""

    federation: str
    seed: int
    architecture: Architecture
    training: Training
    strategy: Strategy
    candidates: int
    """At most so many random candidates are scored per query."""
    discarding: tuple[str, ...] = ()
    """Sites that keep no image answered OUTLIER: nothing learns from it, and no gate sees it."""


class Site:
    """Every method takes a request of `federation.messages` and returns its reply. Training can be
    taken apart: `begin`, the steps, `finish`; an engine that has several sites takes their steps
    in turn.

    Networks and optimisers are made once and refilled: to make EfficientNet-B0 takes 0.2 s, and
    what was captured on a GPU holds on to its memory.
    """

    def __init__(
        self, data: SiteData, setup: Setup, ledger: Ledger, oracle: Oracle, folder: Path
    ) -> None:
        self.data, self.setup, self.ledger, self.oracle = data, setup, ledger, oracle
        self.folder = folder
        self.device = _device(setup.training.device)
        self.feed = Feed(data.inputs, self.device)
        self._learner: Learner | None = None
        self._training_set: TrainingSet | None = None
        self._reached: tuple[int, int] | None = None
        """Round and communication round of the training that is under way."""
        self._last: Learner | None = None
        self._global: tuple[Network, Flat] | None = None

    @property
    def name(self) -> str:
        """The clinic's name within the federation."""
        return self.data.site

    @property
    def specs(self) -> tuple[TensorSpec, ...]:
        """The manifest of its network: it takes no other."""
        _, state = self._global_model()
        return state.specs

    def train(self, request: TrainRequest) -> TrainReply:
        """E local epochs from the weights sent. The first step of an AL round starts afresh."""
        local = self.begin(request)
        side_by_side([local])
        return self.finish(request, local)

    def begin(self, request: TrainRequest) -> LocalRound:
        """Get ready for the steps that `train` takes."""
        if request.step and self._reached != (request.round, request.step - 1):
            raise Refusal(
                f"asked to go on at step {request.step} of round {request.round}, which this "
                "process has not trained up to there; start the round again",
                trouble="again",
            )
        self._learner = self._learner or self._make_learner()
        check(request.weights, against=self._learner.state.specs)
        if request.step == 0:
            restart(self._learner, seed_of(self.setup.seed, "companion", self.name, request.round))
            self._training_set = self._labelled_before(request.round + 1)
        assert self._training_set is not None
        self._reached = None
        self._learner.state.load(request.weights)
        purpose = ("train", self.name, request.round, request.step)
        generator = torch_generator(self.setup.seed, *purpose)
        return LocalRound(
            self._learner,
            self.feed,
            self._training_set,
            self.setup.training,
            request.step,
            generator,
        )

    def finish(self, request: TrainRequest, local: LocalRound) -> TrainReply:
        """What `train` replies after the last step."""
        assert self._learner is not None and self._training_set is not None
        loss = local.finish()
        if request.step == request.steps - 1:
            save_local(self._local_file, self._learner, request.round)
        self._reached = request.round, request.step
        weights = self._learner.state.weights()
        return TrainReply(self.name, weights, len(self._training_set.labelled), loss)

    def query(self, request: QueryRequest) -> QueryReply:
        """Choose images, put them on the worklist, and report the answers given so far.

        Idempotent per round: repeated, it chooses the same images from the same knowledge, and
        the ledger asks none of them twice.
        """
        known = self._known_before(request.round)
        if request.weights is None:
            query, candidates = self._warm_up(known, request.budget), known.unasked
        else:
            candidates = self._candidates(known, request.round)
            query = self._select(known, candidates, request)
        asked = self.ledger.ask(request.round, query.ids)
        self._answer(request.round)
        return self._report(query, candidates, request.round, asked)

    def evaluate(self, request: EvaluateRequest) -> EvaluateReply:
        """Counts and calibration of these weights on the site's own test images; who got which
        class stays in its folder."""
        network = self._global_network(request.weights)
        return evaluate(network, self.feed, self.data, request.round, self.folder)

    def status(self, request: StatusRequest) -> StatusReply:
        """How far people are with the worklist of a round."""
        return status(self.name, request.round, len(self.data.train), self.ledger)

    @property
    def _local_file(self) -> Path:
        return self.folder / "local.safetensors"

    def _network(self) -> Network:
        """Its initial weights don't matter: they are always replaced."""
        setup = self.setup
        classes = len(self.data.classes)
        architecture, objective = setup.architecture.without_weights(), setup.strategy.objective
        network = build(architecture, self.feed.shape, classes, objective, seed=0)
        return network.to(self.device)

    def _make_learner(self) -> Learner:
        with torch.random.fork_rng(devices=[]):
            objective, training = self.setup.strategy.objective, self.setup.training
            return make_learner(self._network(), objective, training)

    def _global_network(self, weights: Weights) -> Network:
        network, state = self._global_model()
        state.load(weights)
        return network

    def _global_model(self) -> tuple[Network, Flat]:
        if self._global is None:
            network = self._network()
            self._global = network, Flat(network)
        return self._global

    def _known_before(self, round: int) -> Knowledge:
        known = known_before(round, self.data, self.ledger)
        if self.name in self.setup.discarding:
            return replace(known, outliers=known.outliers[:0])
        return known

    def _labelled_before(self, round: int) -> TrainingSet:
        known = self._known_before(round)
        return TrainingSet(
            labelled=torch.from_numpy(known.labelled),
            labels=torch.from_numpy(known.labels),
            outliers=torch.from_numpy(known.outliers),
            unlabelled=torch.from_numpy(known.unasked),
        )

    def _warm_up(self, known: Knowledge, budget: int) -> Query:
        rows = warm_up(self.setup.seed, self.name, known.unasked, budget)
        return Query(ids=tuple(self.data.ids[row] for row in rows.tolist()))

    def _candidates(self, known: Knowledge, round: int) -> NDArray[np.int64]:
        setup = self.setup
        return scored(setup.seed, self.name, round, known.unasked, setup.candidates)

    def _select(
        self, known: Knowledge, candidates: NDArray[np.int64], request: QueryRequest
    ) -> Query:
        if len(candidates) == 0 or request.weights is None:
            return Query(ids=())
        self._last = self._last or self._make_learner()
        if request.trained:
            load_local(self._local_file, self._last, request.round - 1)
        else:
            restart(self._last, seed_of(self.setup.seed, "companion", self.name, request.round))
            self._last.state.load(request.weights)
        network = self._global_network(request.weights)
        pool = make_pool(
            self.data, known, candidates, network, self._last, self.feed, request.round
        )
        rng = numpy_generator(self.setup.seed, "query", self.name, request.round)
        query = self.setup.strategy.select(pool, request.budget, rng)
        return query if request.trained else _noted(query, NOT_TRAINED)

    def _answer(self, round: int) -> None:
        """What the oracle can answer now; people answer later, through the page."""
        pending = self.ledger.pending(round)
        self.ledger.answer_all(self.oracle.answers(pending))

    def _report(
        self, query: Query, candidates: NDArray[np.int64], round: int, asked: tuple[str, ...]
    ) -> QueryReply:
        answers = self.ledger.answers()
        given = {sample: answers[sample] for sample in asked if sample in answers}
        ids = tuple(self.data.ids[row] for row in candidates.tolist())
        write_query(self.folder, round, query, ids, asked, given)
        truth = self.data.labels[candidates]
        outliers = sum(label == OUTLIER for label in given.values())
        known = len(truth) > 0 and bool((truth >= OUTLIER).all())
        after = known_before(round + 1, self.data, self.ledger)
        return QueryReply(
            site=self.name,
            round=round,
            candidates=len(candidates),
            asked=len(asked),
            answered=len(given),
            answered_id=len(given) - outliers,
            answered_ood=outliers,
            labelled=len(after.labelled),
            outliers=len(after.outliers),
            filled=query.diagnosis.filled,
            gate=gate_report(query, truth),
            pool_ood_share=float((truth == OUTLIER).mean()) if known else None,
        )


def _noted(query: Query, note: str) -> Query:
    diagnosis = query.diagnosis
    return replace(query, diagnosis=replace(diagnosis, notes=(*diagnosis.notes, note)))


def _device(wanted: str) -> torch.device:
    if wanted == "auto":
        return torch.device("cuda" if torch.cuda.is_available() else "cpu")
    if wanted == "cuda" and not torch.cuda.is_available():
        raise ValueError("training.device is 'cuda', but there is no CUDA device; use 'auto'")
    return torch.device(wanted)
