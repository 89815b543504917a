"""What a run costs the machines: seconds and memory per phase, bytes over the wire."""

from collections import defaultdict
from collections.abc import Sequence
from typing import Any, Final

import numpy as np

from fidal.report.frame import RunRows, Study
from fidal.report.spread import Spread
from fidal.report.style import label
from fidal.report.tables.table import Column, Line, Table, Value

PHASES: Final = ("train", "query", "evaluate")


def timing(study: Study) -> Table | None:
    """Per method, averaged over rounds; None if no run has timings."""
    if not any(run.timings for run in study.runs):
        return None
    lines = []
    for method in study.main:
        runs = [run for seed in study.seeds if (run := study.run(method, seed))]
        cells: tuple[Value, ...] = (
            label(method),
            *(_over(study, [seconds_per_round(run, phase) for run in runs]) for phase in PHASES),
            *(_largest([peak(run, phase) for run in runs]) for phase in PHASES),
            _largest([wire_bytes(run) for run in runs]),
        )
        lines.append(Line(cells, study.strategy(method)))
    return Table(
        name="timings",
        title="Seconds, memory and network",
        caption=(
            f"{study.name}. Seconds per AL round, all sites one after the other, mean ± standard "
            "deviation over seeds; the query counts from R1, for the warm-up chooses at random. "
            "Peak: the most memory of any request of a phase, as far as the device can tell: of a "
            "GPU what is allocated, on a CPU all that the process holds. Over the wire: weights "
            "sent to and from one site in one AL round (2 T + 2 times their size; counts and "
            "metrics are a few hundred bytes)."
        ),
        columns=(
            Column("Method"),
            *(Column(f"{phase} (s)", "low", digits=2) for phase in PHASES),
            *(Column(f"{phase}: peak (MB)", "low", 1e-6, digits=0) for phase in PHASES),
            Column("Over the wire (MB)", "low", 1e-6, digits=2),
        ),
        lines=tuple(lines),
    )


def seconds_per_round(run: RunRows, phase: str) -> float:
    """Summed over sites, then averaged over rounds."""
    rounds: dict[int, float] = defaultdict(float)
    for row in run.timings:
        fields: dict[str, Any] = dict(row)
        if fields["phase"] == phase and (phase != "query" or fields["round"] > 0):
            rounds[fields["round"]] += float(fields["seconds"] or 0)
    return float(np.mean(list(rounds.values()))) if rounds else float("nan")


def wire_bytes(run: RunRows) -> float:
    """T downloads and uploads to train, one download to query, one to evaluate."""
    training: Any = run.config.get("training") or {}
    return run.weight_bytes * (2 * int(training.get("rounds", 0)) + 2)


def peak(run: RunRows, phase: str) -> float:
    """Bytes; 0 if no request of the phase has told any."""
    fields: list[dict[str, Any]] = [dict(row) for row in run.timings]
    own = [row for row in fields if row["phase"] == phase]
    return max((float(row["peak_bytes"] or 0) for row in own), default=0.0)


def _largest(values: Sequence[float]) -> float:
    return max(values, default=0.0) or float("nan")


def _over(study: Study, values: Sequence[float]) -> Spread:
    missing = [float("nan")] * (len(study.seeds) - len(values))
    return Spread.over(np.array([*values, *missing]))
