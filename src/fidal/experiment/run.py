"""One run in one folder: begin it, or go on with it; both are the same call."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from fidal.data.benchmark import Benchmark
from fidal.data.sites import site_data
from fidal.experiment.config import Experiment
from fidal.experiment.folder import RunFolder
from fidal.experiment.records import KEY, rows_of
from fidal.experiment.timings import Timings
from fidal.federation.coordinator import Coordinator, Phase, Plan, State
from fidal.federation.inprocess import InProcess
from fidal.federation.messages import StatusReply, StatusRequest, Weights
from fidal.federation.weights import pack
from fidal.learning.networks import build
from fidal.rows import append_once
from fidal.seeds import seed_of
from fidal.site.ledger import Ledger
from fidal.site.oracle import GroundTruth
from fidal.site.site import Setup, Site

Told = Callable[[Phase, int, int, int], None]


@dataclass(frozen=True)
class Run:
    """An experiment and the folder it lives in."""

    experiment: Experiment
    folder: RunFolder

    def go(self, cache: Path, told: Told | None = None) -> None:
        """From wherever the folder stands to the end. `told` hears phase, round, step, steps."""
        self.folder.claim(self.experiment)
        state = self.folder.load_state(self.experiment)
        if state.done:
            return
        benchmark = self.experiment.benchmark.load(cache)
        timings = Timings(self.folder.timings)
        engine = InProcess(self._sites(benchmark), timings.clock)

        def save(state: State) -> None:
            self.folder.save_state(self.experiment, state)
            timings.flush()

        coordinator = Coordinator(
            engine=engine,
            plan=self._plan(engine),
            fresh=self._fresh(benchmark),
            save=save,
            **({"told": told} if told else {}),
        )
        for result in coordinator.run(state):
            rows = rows_of(self.experiment, benchmark.manifest.classes, result)
            append_once(self.folder.rounds, rows, KEY)

    def _sites(self, benchmark: Benchmark) -> list[Site]:
        experiment = self.experiment
        setup = Setup(
            federation=experiment.run_name,
            seed=experiment.seed,
            architecture=experiment.network,
            training=experiment.training,
            strategy=experiment.strategy,
            candidates=experiment.candidates,
        )
        sites = []
        for name in benchmark.manifest.sites:
            data = site_data(benchmark, name)
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
            budgets={site: self.experiment.budget_of(site, n) for site, n in images.items()},
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
