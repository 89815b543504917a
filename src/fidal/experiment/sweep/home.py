"""The folder of a sweep.

sweep.json      whose folder it is
RUN/            one folder per run, see experiment/folder.py
"""

import json
from dataclasses import dataclass
from pathlib import Path

from fidal.experiment.config import ConfigError, Experiment
from fidal.experiment.folder import RunFolder
from fidal.storage import write_atomic


@dataclass(frozen=True)
class Home:
    """Paths, and whose they are."""

    path: Path

    def run(self, experiment: Experiment) -> RunFolder:
        """The run's own."""
        return RunFolder(self.path / experiment.run_name)

    def claim(self, name: str) -> None:
        """Make the folder the sweep's, or find that it is.

        A sweep is known by the `name` in its file: it may get more runs, or be called for some of
        them only, but runs of two sweeps do not lie in one folder.
        """
        file = self.path / "sweep.json"
        if file.exists():
            owner = _owner(file)
            if owner != name:
                raise ConfigError(
                    f"{self.path} belongs to the sweep '{owner}', and this one is '{name}'; give "
                    "it another folder with --out, or another name in its file"
                )
            return
        self.path.mkdir(parents=True, exist_ok=True)
        write_atomic(file, json.dumps({"name": name}).encode())


def _owner(file: Path) -> str:
    try:
        return str(json.loads(file.read_text())["name"])
    except (ValueError, KeyError, TypeError) as error:
        raise ConfigError(
            f"{file} is not a sweep's ({error!r}); remove it if it should be"
        ) from error
