"""One run in one folder: begin it, or go on with it; both are the same call."""

import hashlib
from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

import torch

from fidal.data.benchmark import Benchmark, Source
from fidal.data.sites import site_data
from fidal.experiment.before import check_ledger, check_needs, check_sites, needed
from fidal.experiment.config import Experiment
from fidal.experiment.folder import RunFolder
from fidal.experiment.opening import open_site, simulated_expert
from fidal.experiment.planning import fresh_weights, make_plan
from fidal.experiment.records import KEY, rows_of
from fidal.experiment.timings import Timings
from fidal.federation.coordinator import Coordinator
from fidal.federation.engine import FederationError
from fidal.federation.inprocess import InProcess
from fidal.federation.state import State, Told
from fidal.rows import append_once
from fidal.site.ledger_file import LedgerError
from fidal.site.site import Site
from fidal.storage import StateError, hold

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
            coordinator = self._coordinator(benchmark, sites)
            coordinator = replace(coordinator, told=told) if told else coordinator
            record(self.experiment, self.folder, benchmark.manifest.classes, coordinator, state)

    def _coordinator(self, benchmark: Benchmark, sites: list[Site]) -> Coordinator:
        timings = Timings(self.folder.timings)
        engine = InProcess(sites, timings.clock)
        shape, classes = tuple(benchmark.inputs.shape[1:]), benchmark.manifest.classes

        def save(state: State) -> None:
            self.folder.save_state(self.experiment, state)
            timings.flush()

        fresh = fresh_weights(self.experiment, shape, len(classes))
        return Coordinator(engine, make_plan(self.experiment, engine), fresh, save)

    def _sites(self, benchmark: Benchmark) -> list[Site]:
        sites = []
        for name in benchmark.manifest.sites:
            data = site_data(benchmark, name)
            oracle = simulated_expert(self.experiment, data)
            sites.append(open_site(self.experiment, data, oracle, self.folder.site(name)))
        return sites


def record(
    experiment: Experiment,
    folder: RunFolder,
    classes: tuple[str, ...],
    coordinator: Coordinator,
    state: State,
) -> None:
    """Go on from `state`; each round's rows are on the disk before the state behind them."""
    for result in coordinator.run(state):
        append_once(folder.rounds, rows_of(experiment, classes, result), KEY)


def loaded(source: Source, cache: Path) -> Benchmark:
    """The benchmark. Of several processes one draws, decodes and encodes; the others wait for it
    and find that in the cache, even if they want other embeddings of the same images.
    """
    key = hashlib.sha256(source.bare().model_dump_json().encode()).hexdigest()[:12]
    turn = cache / "turns" / f"{source.name}-{key}"
    turn.mkdir(parents=True, exist_ok=True)
    with hold(turn, wait=True):
        return source.load(cache)
