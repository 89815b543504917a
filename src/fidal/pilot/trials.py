"""Every density x threshold at every site: what it catches and what it loses."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from torch import Tensor

from fidal.gates import DENSITIES, THRESHOLDS, Gate
from fidal.gates.diagnosis import auroc
from fidal.gates.gate import Signal
from fidal.pilot.pools import SitePool

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Rates:
    """What a gate does to images whose truth is known, in counts."""

    outliers: int
    caught: int
    """Of the outliers."""
    inside: int
    lost: int
    """Of the ID images inside."""
    auroc: float | None
    """P(G of an ID image > G of an outlier); None unless there are both."""


@dataclass(frozen=True)
class Trial:
    """One gate at one site."""

    site: str
    density: str
    threshold: str
    cut: float
    refused: float
    """Share of the candidates."""
    known: Rates | None
    """By the labelled warm-up, cross-fitted: what the site itself can know. None if too few."""
    truth: Rates | None
    """By the labels of all candidates: what only a benchmark knows."""
    flags: tuple[str, ...]


@dataclass(frozen=True, eq=False)
class SiteTrials:
    """All gates at one site, and the signal of each density that they cut."""

    pool: SitePool
    signals: Mapping[str, Signal]
    """By density; one that has nothing to go by is not there."""
    trials: Sequence[Trial]


def try_gates(pool: SitePool) -> SiteTrials:
    """All densities times all thresholds, each with its defaults."""
    signals: dict[str, Signal] = {}
    trials: list[Trial] = []
    for density, of_density in DENSITIES.items():
        gates = [Gate(density=of_density(), threshold=each()) for each in THRESHOLDS.values()]
        signal = gates[0].signal(pool.candidates, pool.labelled, pool.labels, pool.outliers)
        if isinstance(signal, str):
            trials += [_idle(pool, density, gate.threshold.name, signal) for gate in gates]
        else:
            signals[density] = signal
            trials += [_trial(pool, gate, signal) for gate in gates]
    return SiteTrials(pool, signals, trials)


def _trial(pool: SitePool, gate: Gate, signal: Signal) -> Trial:
    diagnosis = gate.judge(signal).diagnosis
    cut = diagnosis.cut
    G = _array(signal.G)
    known = truth = None
    if signal.null is not None:
        known = _known(_array(signal.null), _array(signal.foreign), cut)
    if pool.foreign is not None:
        truth = _rates(G[~pool.foreign], G[pool.foreign], cut)
    return Trial(
        site=pool.site,
        density=diagnosis.density,
        threshold=diagnosis.threshold,
        cut=cut,
        refused=diagnosis.rejected,
        known=known,
        truth=truth,
        flags=diagnosis.flags,
    )


def _idle(pool: SitePool, density: str, threshold: str, reason: str) -> Trial:
    """A gate that is off refuses nobody."""
    truth = None
    if pool.foreign is not None:
        outliers = int(pool.foreign.sum())
        truth = Rates(outliers, 0, len(pool.foreign) - outliers, 0, None)
    return Trial(pool.site, density, threshold, 0.0, 0.0, None, truth, (reason,))


def _known(null: Floats, foreign: Floats, cut: float) -> Rates:
    """A threshold that looks at the labelled ID scores may set its cut at one of them. Then as many
    as possible are just not lost: the expected share is that of one more, (i + 1) / (n + 1).
    """
    rates = _rates(null, foreign, cut)
    return replace(rates, lost=rates.lost + 1) if cut in null else rates


def _rates(inside: Floats, outliers: Floats, cut: float) -> Rates:
    both = len(inside) > 0 and len(outliers) > 0
    return Rates(
        outliers=len(outliers),
        caught=int((outliers < cut).sum()),
        inside=len(inside),
        lost=int((inside < cut).sum()),
        auroc=auroc(inside, outliers) if both else None,
    )


def _array(x: Tensor) -> Floats:
    return np.asarray(x.cpu().numpy(), dtype=np.float64)
