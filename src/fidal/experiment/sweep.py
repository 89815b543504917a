"""Many experiments from one TOML file: its `[sweep]` table lists the values of dotted keys.

    [sweep]
    strategy = ["fidal", "random"]
    seed = [0, 1, 2]

stands for the six combinations. A run that is finished is not run again, one that was cut goes on.
"""

import copy
import itertools
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from fidal.experiment.config import ConfigError, Experiment, make_experiment, put
from fidal.experiment.folder import RunFolder
from fidal.experiment.run import REFUSALS, Run
from fidal.federation.state import Told


@dataclass(frozen=True)
class Outcome:
    """How one run of a sweep ended."""

    run: Run
    error: str | None


def expand(table: dict[str, Any]) -> list[Experiment]:
    """The experiments of a table, in the order of its `[sweep]`, the last key varying fastest."""
    table = dict(table)
    axes = table.pop("sweep", {})
    if not isinstance(axes, dict):
        raise ConfigError(f"sweep is {axes!r}; it must be a table of lists, e.g. seed = [0, 1, 2]")
    for key, values in axes.items():
        if not isinstance(values, list) or not values:
            raise ConfigError(f"sweep.{key} is {values!r}; it must be a list of values")
    experiments = []
    for values in itertools.product(*axes.values()):
        one = copy.deepcopy(table)
        for key, value in zip(axes, values, strict=True):
            put(one, key, value)
        experiments.append(make_experiment(one))
    return experiments


def run_all(
    experiments: Sequence[Experiment],
    out: Path,
    cache: Path,
    told: Callable[[Experiment], Told] | None = None,
) -> list[Outcome]:
    """One after the other; what a configuration or its data can't do is the run's outcome, not the
    end of the sweep.
    """
    outcomes = []
    for experiment in experiments:
        run = Run(experiment, RunFolder(out / experiment.run_name))
        try:
            run.go(cache, told(experiment) if told else None)
            outcomes.append(Outcome(run, None))
        except REFUSALS as error:
            outcomes.append(Outcome(run, str(error)))
    return outcomes
