"""The files of a run.

config.json          the resolved configuration
versions.json        of fidal, Python and the libraries, when the run began
.lock                held by the process that is at work on the run
failures.jsonl       why it failed, see standing.py; not there if it never did
log.txt              what its process in a sweep printed; not there if that was nothing
rounds.jsonl         the result rows, see records.py
timings.jsonl        seconds and peak memory of each request; the only file that differs
                     between two runs of one configuration
state.safetensors    the coordinator's state after its last finished phase
sites/NAME/          what stays at a site: ledger.sqlite, local.safetensors, queries.jsonl,
                     scores-ROUND.safetensors, predictions.safetensors
"""

import json
import platform
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any

from fidal.experiment.config import ConfigError, Experiment, make_experiment
from fidal.experiment.records import FEDERATION
from fidal.federation.coordinator import State
from fidal.federation.messages import GateReport, QueryReply
from fidal.federation.weights import pack, unpack
from fidal.rows import read
from fidal.storage import StateError, hold, load_state, remove_leftovers, save_state, write_atomic

LIBRARIES = ("fidal", "torch", "numpy", "scikit-learn", "timm")


@dataclass(frozen=True)
class RunFolder:
    """Paths, and reading and writing of what is not a row."""

    path: Path

    @property
    def rounds(self) -> Path:
        """The result rows."""
        return self.path / "rounds.jsonl"

    @property
    def timings(self) -> Path:
        """Seconds and memory."""
        return self.path / "timings.jsonl"

    @property
    def failures(self) -> Path:
        """Why it failed."""
        return self.path / "failures.jsonl"

    @property
    def log(self) -> Path:
        """What its process printed."""
        return self.path / "log.txt"

    @property
    def state(self) -> Path:
        """Where the coordinator stood."""
        return self.path / "state.safetensors"

    def site(self, name: str) -> Path:
        """A site's own folder, made if there is none."""
        folder = self.path / "sites" / name
        folder.mkdir(parents=True, exist_ok=True)
        remove_leftovers(folder)
        return folder

    @contextmanager
    def held(self) -> Iterator[None]:
        """The folder, made if there is none, for this process alone; a killed one lets it go.
        One with other files than a run's is refused and stays as it is.
        """
        self.path.mkdir(parents=True, exist_ok=True)
        # A run that was killed at birth has left its lock and its versions, and no more.
        own = {*self.path.glob(".*.tmp"), self.path / ".lock", self.path / "versions.json"}
        if not (self.path / "config.json").exists() and set(self.path.iterdir()) - own:
            raise ConfigError(f"{self.path} holds files that are not a run's; name another folder")
        with hold(self.path):
            yield

    def claim(self, experiment: Experiment) -> None:
        """Make the folder, which must be held, this experiment's, or find that it is; another's
        stays untouched.
        """
        file = self.path / "config.json"
        if file.exists():
            self.check(experiment)
        remove_leftovers(self.path)
        if file.exists():
            return
        found = {name: version(name) for name in LIBRARIES}
        versions = {"python": platform.python_version(), **found}
        write_atomic(self.path / "versions.json", json.dumps(versions, indent=1).encode())
        write_atomic(file, experiment.model_dump_json(indent=1).encode())

    def check(self, experiment: Experiment) -> None:
        """The folder was made for this experiment."""
        stored = self.experiment()
        if stored != experiment:
            raise ConfigError(_difference(self.path, stored, experiment))

    def experiment(self) -> Experiment:
        """The experiment that the folder was made for."""
        file = self.path / "config.json"
        if not file.exists():
            raise ConfigError(f"{self.path} is no run: it has no config.json")
        try:
            table = json.loads(file.read_text())
            return make_experiment(table)
        except ValueError as error:
            raise ConfigError(
                f"{file} can't be used: {error}; put back a copy of it, or start the run in a new "
                "folder"
            ) from error

    def save_state(self, experiment: Experiment, state: State) -> None:
        """Atomically, after each phase."""
        tensors = unpack(state.weights) if state.weights else {}
        queried = {site: asdict(reply) for site, reply in state.queried.items()}
        meta = {
            "config": experiment.digest,
            "round": str(state.round),
            "phase": state.phase,
            "done": str(state.done),
            "names": json.dumps(list(tensors)),
            "queried": json.dumps(queried),
        }
        save_state(self.state, tensors, meta)

    def load_state(self, experiment: Experiment) -> State:
        """The last saved state, or the beginning."""
        file = self.state
        if not file.exists():
            return State()
        tensors, meta = load_state(file)
        if meta.get("config") != experiment.digest:
            raise StateError(f"{file} belongs to another configuration; move it away to start anew")
        names: list[str] = json.loads(meta["names"])
        state = State(
            round=int(meta["round"]),
            phase=meta["phase"],  # type: ignore[arg-type]
            weights=pack({name: tensors[name] for name in names}) if names else None,
            queried={s: _reply(table) for s, table in json.loads(meta["queried"]).items()},
            done=meta["done"] == "True",
        )
        self.check_rows(state.round)
        return state

    def check_rows(self, round: int) -> None:
        """Rows are on the disk before the state that follows them; fewer were lost since."""
        rows = read(self.rounds) if self.rounds.exists() else []
        there = {row.get("round") for row in rows if row.get("site") == FEDERATION}
        lost = sorted(set(range(round)) - there)
        if lost:
            raise StateError(
                f"{self.rounds} lacks the rows of rounds {lost}, which had been written; put back "
                "a copy of it, or start the run in a new folder"
            )


def _reply(table: dict[str, Any]) -> QueryReply:
    gate = table.pop("gate")
    return QueryReply(**table, gate=GateReport(**gate) if gate else None)


def _difference(path: Path, stored: Experiment, given: Experiment) -> str:
    a, b = stored.model_dump(mode="json"), given.model_dump(mode="json")
    keys = ", ".join(key for key in a if a[key] != b[key])
    return (
        f"{path} holds a run of another configuration (it differs in: {keys}); resume it with "
        f"`fidal resume`, or give the new one another folder"
    )
