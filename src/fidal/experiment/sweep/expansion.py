"""From a table with a `[sweep]` to its experiments, and the part of them that is one machine's."""

import copy
import itertools
from collections.abc import Sequence
from typing import Any

from fidal.experiment.config import ConfigError, Experiment, make_experiment, put
from fidal.experiment.sweep.axes import axes_of


def expand(table: dict[str, Any]) -> list[Experiment]:
    """The experiments of a table, in the order of its `[sweep]`, the last axis varying fastest.

    Combinations that come to the same configuration are one experiment.
    """
    base = {key: value for key, value in table.items() if key != "sweep"}
    axes = axes_of(table.get("sweep", {}))
    keys = [key for axis in axes for key in axis.keys]
    found: dict[str, Experiment] = {}
    for steps in itertools.product(*(axis.steps for axis in axes)):
        values = dict(zip(keys, itertools.chain(*steps), strict=True))
        experiment = _combined(base, values)
        found.setdefault(experiment.digest, experiment)
    return list(found.values())


def _combined(base: dict[str, Any], values: dict[str, object]) -> Experiment:
    """A part before its fields, so that `strategy` does not undo `strategy.lambda_div`."""
    one = copy.deepcopy(base)
    for key in sorted(values, key=lambda key: key.count(".")):
        put(one, key, copy.deepcopy(values[key]))
    try:
        return make_experiment(one)
    except ConfigError as error:
        if not values:
            raise
        where = ", ".join(f"{key}={value}" for key, value in values.items())
        raise ConfigError(f"{error} (in the sweep's combination {where})") from error


def part(experiments: Sequence[Experiment], number: int, of: int) -> list[Experiment]:
    """The `number`-th of `of` parts: every `of`-th experiment, so that each part has some of all
    strategies. The parts do not overlap and leave nothing out.
    """
    return list(experiments[number - 1 :: of])
