"""One clinic: it owns images, ledger and model, and answers the coordinator's requests."""

from dataclasses import dataclass, replace
from pathlib import Path

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
    TrainReply,
    TrainRequest,
    Weights,
)
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
from fidal.site.reporting import evaluate, gate_report, write_query
from fidal.strategies.base import Strategy
from fidal.types import OUTLIER, Query


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
        self._last: Learner | None = None
        self._global: tuple[Network, Flat] | None = None

    @property
    def name(self) -> str:
        """The clinic's name within the federation."""
        return self.data.site

    def train(self, request: TrainRequest) -> TrainReply:
        """E local epochs from the weights sent. The first step of an AL round starts afresh."""
        local = self.begin(request)
        side_by_side([local])
        return self.finish(request, local)

    def begin(self, request: TrainRequest) -> LocalRound:
        """Get ready for the steps that `train` takes."""
        if request.step == 0 or self._learner is None or self._training_set is None:
            if request.step:
                raise ValueError(
                    f"site '{self.name}': asked to go on at step {request.step} of round "
                    f"{request.round}, which this process has not begun; start the round again"
                )
            self._learner = self._learner or self._make_learner()
            restart(self._learner, seed_of(self.setup.seed, "companion", self.name, request.round))
            self._training_set = self._labelled_before(request.round + 1)
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

    def status(self) -> StatusReply:
        """Counts of the ledger."""
        answers = self.ledger.answers()
        outliers = sum(label == OUTLIER for label in answers.values())
        pending = len(self.ledger.asked()) - len(answers)
        labelled = len(answers) - outliers
        return StatusReply(self.name, len(self.data.train), labelled, outliers, pending)

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
        if self._global is None:
            network = self._network()
            self._global = network, Flat(network)
        network, state = self._global
        state.load(weights)
        return network

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
        load_local(self._local_file, self._last, request.round - 1)
        network = self._global_network(request.weights)
        pool = make_pool(
            self.data, known, candidates, network, self._last, self.feed, request.round
        )
        rng = numpy_generator(self.setup.seed, "query", self.name, request.round)
        return self.setup.strategy.select(pool, request.budget, rng)

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


def _device(wanted: str) -> torch.device:
    if wanted == "auto":
        return torch.device("cuda" if torch.cuda.is_available() else "cpu")
    if wanted == "cuda" and not torch.cuda.is_available():
        raise ValueError("training.device is 'cuda', but there is no CUDA device; use 'auto'")
    return torch.device(wanted)
