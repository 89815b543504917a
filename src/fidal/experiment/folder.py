"""The files of a run.

config.json          the resolved configuration
versions.json        of fidal, Python and the libraries, when the run began
rounds.jsonl         the result rows, see records.py
timings.jsonl        seconds and peak memory of each request; the only file that differs
                     between two runs of one configuration
state.safetensors    the coordinator's state after its last finished phase
sites/NAME/          what stays at a site: ledger.sqlite, local.safetensors, queries.jsonl,
                     scores-ROUND.safetensors
"""

import fcntl
import json
import os
import platform
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any

from fidal.experiment.config import ConfigError, Experiment, make_experiment
from fidal.experiment.records import FEDERATION
from fidal.federation.messages import GateReport, QueryReply
from fidal.federation.state import State
from fidal.federation.weights import pack, unpack
from fidal.rows import read
from fidal.storage import StateError, load_state, remove_leftovers, save_state, write_atomic

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

    def site(self, name: str) -> Path:
        """A site's own folder, made if there is none."""
        folder = self.path / "sites" / name
        folder.mkdir(parents=True, exist_ok=True)
        remove_leftovers(folder)
        return folder

    @contextmanager
    def held(self) -> Iterator[None]:
        """The folder, made if there is none, for this process alone; a killed one lets it go."""
        self.path.mkdir(parents=True, exist_ok=True)
        descriptor = os.open(self.path, os.O_RDONLY)
        try:
            try:
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError as error:
                raise ConfigError(f"{self.path}: another process is at work on this run") from error
            yield
        finally:
            os.close(descriptor)

    def claim(self, experiment: Experiment) -> None:
        """Make the folder this experiment's, or find that it is; another's stays untouched."""
        file, versions_file = self.path / "config.json", self.path / "versions.json"
        if file.exists():
            stored = self.experiment()
            if stored != experiment:
                raise ConfigError(_difference(self.path, stored, experiment))
            remove_leftovers(self.path)
            return
        # A run that was killed at birth has left its versions, and no more.
        if set(self.path.iterdir()) - set(self.path.glob(".*.tmp")) - {versions_file}:
            raise ConfigError(f"{self.path} holds files that are not a run's; name another folder")
        remove_leftovers(self.path)
        found = {name: version(name) for name in LIBRARIES}
        versions = {"python": platform.python_version(), **found}
        write_atomic(versions_file, json.dumps(versions, indent=1).encode())
        write_atomic(file, experiment.model_dump_json(indent=1).encode())

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
            "missing": json.dumps(dict(state.missing)),
            "trained": json.dumps(state.trained),
            "until": json.dumps(state.until),
        }
        save_state(self.path / "state.safetensors", tensors, meta)

    def load_state(self, experiment: Experiment) -> State:
        """The last saved state, or the beginning."""
        file = self.path / "state.safetensors"
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
            missing=json.loads(meta["missing"]),
            trained=tuple(json.loads(meta["trained"])),
            until=json.loads(meta["until"]),
            done=meta["done"] == "True",
        )
        self._check_rows(state)
        return state

    def _check_rows(self, state: State) -> None:
        """Rows are on the disk before the state that follows them; fewer were lost since."""
        rows = read(self.rounds) if self.rounds.exists() else []
        there = {row.get("round") for row in rows if row.get("site") == FEDERATION}
        lost = sorted(set(range(state.round)) - there)
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
