"""One run in one folder: begin it, or go on with it; both are the same call."""

import hashlib
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import torch

from fidal.data.benchmark import Benchmark, Source
from fidal.data.sites import site_data
from fidal.experiment.before import check_labels, check_ledger, check_needs, check_sites, needed
from fidal.experiment.config import Experiment
from fidal.experiment.folder import RunFolder
from fidal.experiment.records import KEY, rows_of
from fidal.experiment.timings import Timings
from fidal.federation.coordinator import Coordinator, Phase, Plan, State
from fidal.federation.engine import FederationError
from fidal.federation.inprocess import InProcess
from fidal.federation.messages import StatusReply, StatusRequest, Weights
from fidal.federation.weights import pack
from fidal.learning.networks import build
from fidal.rows import append_once
from fidal.seeds import seed_of
from fidal.site.ledger import Ledger
from fidal.site.ledger_file import LedgerError
from fidal.site.oracle import GroundTruth
from fidal.site.site import Setup, Site
from fidal.storage import StateError, hold

Told = Callable[[Phase, int, int, int], None]

REFUSALS: Final = (
    ValueError,
    OSError,
    FederationError,
    LedgerError,
    StateError,
    torch.OutOfMemoryError,
)
"""What a person can act on, in words. Anything else is a bug and keeps its traceback."""


@dataclass(frozen=True)
class Run:
    """An experiment and the folder it lives in."""

    experiment: Experiment
    folder: RunFolder

    def go(self, cache: Path, told: Told | None = None) -> None:
        """From wherever the folder stands to the end. `told` hears phase, round, step, steps."""
        with self.folder.held():
            self.folder.claim(self.experiment)
            state = self.folder.load_state(self.experiment)
            if not state.done:
                self._go_on(state, cache, told)

    def _go_on(self, state: State, cache: Path, told: Told | None) -> None:
        source = needed(self.experiment.benchmark, self.experiment.strategy)
        benchmark = loaded(source, cache)
        check_needs(self.experiment.strategy, benchmark)
        check_sites(self.experiment.discarding, benchmark)
        sites = self._sites(benchmark)
        with ExitStack() as ending:
            for site in sites:
                ending.callback(site.ledger.close)
                check_ledger(site.ledger, state.queried.get(site.name))
            for result in self._coordinator(benchmark, sites, told).run(state):
                rows = rows_of(self.experiment, benchmark.manifest.classes, result)
                append_once(self.folder.rounds, rows, KEY)

    def _coordinator(
        self, benchmark: Benchmark, sites: list[Site], told: Told | None
    ) -> Coordinator:
        timings = Timings(self.folder.timings)
        engine = InProcess(sites, timings.clock)

        def save(state: State) -> None:
            self.folder.save_state(self.experiment, state)
            timings.flush()

        return Coordinator(
            engine=engine,
            plan=self._plan(engine),
            fresh=self._fresh(benchmark),
            save=save,
            **({"told": told} if told else {}),
        )

    def _sites(self, benchmark: Benchmark) -> list[Site]:
        experiment = self.experiment
        setup = Setup(
            federation=experiment.run_name,
            seed=experiment.seed,
            architecture=experiment.network,
            training=experiment.training,
            strategy=experiment.strategy,
            candidates=experiment.candidates,
            discarding=experiment.discarding,
        )
        sites = []
        for name in benchmark.manifest.sites:
            data = site_data(benchmark, name)
            check_labels(data)
            folder = self.folder.site(name)
            labels = dict(zip(data.ids, data.labels.tolist(), strict=True))
            oracle = GroundTruth(
                labels, len(data.classes), experiment.oracle_error, experiment.seed
            )
            ledger = Ledger.open(
                folder / "ledger.sqlite", federation=experiment.run_name, site=name
            )
            sites.append(Site(data, setup, ledger, oracle, folder))
        return sites

    def _plan(self, engine: InProcess) -> Plan:
        name = self.experiment.run_name
        replies = engine.broadcast({site: StatusRequest(name) for site in engine.sites})
        images = {r.site: r.images for r in replies.values() if isinstance(r, StatusReply)}
        return Plan(
            federation=name,
            rounds=self.experiment.rounds,
            budgets=self.experiment.budgets(images),
            steps=self.experiment.training.rounds,
            reinitialise=self.experiment.training.reinitialise,
        )

    def _fresh(self, benchmark: Benchmark) -> Callable[[int], Weights]:
        experiment = self.experiment

        def fresh(round: int) -> Weights:
            network = build(
                experiment.network,
                tuple(benchmark.inputs.shape[1:]),
                len(benchmark.manifest.classes),
                experiment.strategy.objective,
                seed_of(experiment.seed, "network", round),
            )
            return pack(network.state_dict())

        return fresh


def loaded(source: Source, cache: Path) -> Benchmark:
    """The benchmark. Of several processes one draws, decodes and encodes; the others wait for it
    and find that in the cache, even if they want other embeddings of the same images.
    """
    key = hashlib.sha256(source.bare().model_dump_json().encode()).hexdigest()[:12]
    turn = cache / "turns" / f"{source.name}-{key}"
    turn.mkdir(parents=True, exist_ok=True)
    with hold(turn, wait=True):
        return source.load(cache)
