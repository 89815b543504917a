"""The result rows of comparable runs, typed, and selected by method, seed, round and site."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Final, Literal

import numpy as np
from pydantic import JsonValue

from fidal.experiment.records import FEDERATION
from fidal.report.spread import Floats, Spread
from fidal.rows import Row

NEEDED: Final = ("run", "benchmark", "strategy", "seed", "round", "site", "classes", "recall")
"""Fields without which a row can't be placed."""

NOT_SETTING: Final = ("name", "seed", "strategy")
"""Fields of a configuration in which comparable runs may differ."""

Measure = Literal["bma", "accuracy"]


@dataclass(frozen=True, eq=False)
class Result:
    """One row."""

    round: int
    site: str
    """A site, or FEDERATION."""
    numbers: Mapping[str, float]
    """All scalar fields, those of the gate as "gate.cut" and so on; NaN where the row has null."""
    recall: Floats
    """Per class, C; NaN for a class without test images."""


def result(row: Row) -> Result:
    """A row of `experiment.records`, typed; a ValueError names what it lacks."""
    site = row.get("site")
    score = "bma_pooled" if site == FEDERATION else "bma"
    lacking = [field for field in (*NEEDED, "purity", "outliers", score) if field not in row]
    if lacking:
        raise ValueError(f"a row without {', '.join(lacking)}")
    gate = row.get("gate")
    fields: dict[str, JsonValue] = dict(row)
    if isinstance(gate, dict):
        fields.update({f"gate.{key}": value for key, value in gate.items()})
    elif "gate" in fields:
        del fields["gate"]
    numbers = {key: _number(value) for key, value in fields.items() if _is_number(value)}
    recall = row["recall"]
    assert isinstance(recall, list)
    return Result(
        round=int(numbers["round"]),
        site=str(site),
        numbers=numbers,
        recall=np.array([_number(value) for value in recall]),
    )


def _is_number(value: JsonValue) -> bool:
    return value is None or (isinstance(value, int | float) and not isinstance(value, bool))


def _number(value: JsonValue) -> float:
    return float(value) if isinstance(value, int | float) else float("nan")


@dataclass(frozen=True, eq=False)
class RunRows:
    """One run: who it is, and what its folder says."""

    folder: Path
    method: str
    """The strategy's name, and how its parameters differ from those of its other variants."""
    strategy: str
    seed: int
    config: Mapping[str, JsonValue]
    results: tuple[Result, ...]
    timings: tuple[Row, ...]
    classes: tuple[str, ...]
    planned: int
    """R of the configuration."""
    done: bool
    """Ended, which may be before R if all pools were exhausted."""
    failure: str
    """Why it ended before its end; empty if it did not fail."""
    weight_bytes: int
    """Size of the network's weights on the wire; 0 if the folder does not hold them."""

    @property
    def sites(self) -> tuple[str, ...]:
        """Without the federation."""
        names = [result.site for result in self.results if result.site != FEDERATION]
        return tuple(dict.fromkeys(names))

    @property
    def setting(self) -> dict[str, JsonValue]:
        """What comparable runs have in common."""
        return {key: value for key, value in self.config.items() if key not in NOT_SETTING}

    @property
    def last(self) -> int:
        """The last round that has rows."""
        return max(result.round for result in self.results)


@dataclass(frozen=True, eq=False)
class Study:
    """Runs of one benchmark and one setting: they differ in strategy and seed, nothing else."""

    name: str
    benchmark: str
    runs: tuple[RunRows, ...]
    """At most one per method and seed."""
    methods: tuple[str, ...]
    """In the order of tables and legends."""
    main: tuple[str, ...]
    """One method per strategy: the usual one of its variants. What the figures compare."""

    @property
    def setting(self) -> str:
        """What tells it from the benchmark's other studies: `budget=50`."""
        return self.name.removeprefix(self.benchmark).strip(" ()") or self.benchmark

    @cached_property
    def seeds(self) -> tuple[int, ...]:
        """Those of all runs together."""
        return tuple(sorted({run.seed for run in self.runs}))

    @cached_property
    def rounds(self) -> range:
        """0, the warm-up, to the last round that any run has."""
        return range(max(run.last for run in self.runs) + 1)

    @cached_property
    def sites(self) -> tuple[str, ...]:
        """Without the federation."""
        return tuple(dict.fromkeys(site for run in self.runs for site in run.sites))

    @property
    def classes(self) -> tuple[str, ...]:
        """The same for all runs."""
        return self.runs[0].classes

    @property
    def measure(self) -> Measure:
        """Accuracy where there are two classes, balanced accuracy where more, as in the paper."""
        return "accuracy" if len(self.classes) == 2 else "bma"

    def score(self, site: str = FEDERATION) -> str:
        """The field of the measure: pooled over the sites' test images, or a site's own."""
        return f"{self.measure}_pooled" if site == FEDERATION else self.measure

    @property
    def score_name(self) -> str:
        """For axes and headers."""
        return {"accuracy": "Accuracy", "bma": "Balanced accuracy"}[self.measure]

    def some_rounds(self, most: int) -> list[int]:
        """At most so many of the queried rounds, spread evenly, the last one among them; the
        warm-up where there is nothing else."""
        queried = list(self.rounds[1:]) or [0]
        places = np.linspace(len(queried) - 1, 0, min(most, len(queried))).round().astype(int)
        return [queried[place] for place in sorted(places.tolist())]

    def run(self, method: str, seed: int) -> RunRows | None:
        """None where the seed is missing."""
        return self._runs.get((method, seed))

    def strategy(self, method: str) -> str:
        """Of which strategy is the method a variant?"""
        return next(run.strategy for run in self.runs if run.method == method)

    def values(self, method: str, key: str, site: str = FEDERATION) -> Floats:
        """One number, seeds x rounds; NaN where there is no row or the row has no number."""
        return np.array(
            [
                [found.numbers.get(key, np.nan) if found else np.nan for found in of_seed]
                for of_seed in self._cells(method, site)
            ]
        )

    def recalls(self, method: str, site: str = FEDERATION) -> Floats:
        """Recall per class, seeds x rounds x C."""
        empty = np.full(len(self.classes), np.nan)
        cells = self._cells(method, site)
        return np.array([[found.recall if found else empty for found in row] for row in cells])

    def spread(self, method: str, key: str, round: int, site: str = FEDERATION) -> Spread:
        """One number at one round, over the seeds."""
        return Spread.over(self.values(method, key, site)[:, round])

    def curve(self, method: str, key: str, site: str = FEDERATION) -> list[Spread]:
        """One spread per round."""
        return [Spread.over(column) for column in self.values(method, key, site).T]

    def _cells(self, method: str, site: str) -> list[list[Result | None]]:
        find = self._results.get
        return [[find((method, s, r, site)) for r in self.rounds] for s in self.seeds]

    @cached_property
    def _runs(self) -> dict[tuple[str, int], RunRows]:
        return {(run.method, run.seed): run for run in self.runs}

    @cached_property
    def _results(self) -> dict[tuple[str, int, int, str], Result]:
        return {
            (run.method, run.seed, result.round, result.site): result
            for run in self.runs
            for result in run.results
        }
