"""Every rule of the gate at the first query of every site: what it would have caught and lost.

The paper's section 4.4, on the pool, labels and features that one run's gate saw.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from fidal.gates import THRESHOLDS, Gate
from fidal.parts import by_name
from fidal.report.album import Album
from fidal.report.evidence import SiteQuery, first_queries
from fidal.report.frame import RunRows
from fidal.report.spread import Floats
from fidal.strategies import STRATEGIES
from fidal.types import OUTLIER

RULES: Final = tuple(THRESHOLDS)


@dataclass(frozen=True)
class Ruling:
    """What one rule would have done at one site."""

    site: str
    rule: str
    cut: float
    """On G; 0 where it refuses nobody."""
    caught: float
    """Share of the candidates' OOD that it refuses; NaN without OOD."""
    lost: float
    """Share of the candidates' ID that it refuses."""


@dataclass(frozen=True, eq=False)
class GateStudy:
    """Of one run."""

    density: str
    deployed: str
    """The rule that the run itself used."""
    coverage: Mapping[str, Floats]
    """G of each site's candidates."""
    foreign: Mapping[str, NDArray[np.bool_]]
    """Which of them are OOD."""
    rulings: tuple[Ruling, ...]

    def of(self, rule: str) -> list[Ruling]:
        """One per site."""
        return [ruling for ruling in self.rulings if ruling.rule == rule]


def gate_study(run: RunRows, album: Album) -> GateStudy | None:
    """None without a gate, without what the sites kept, or where the pool's truth is not known."""
    strategy: Any = by_name("strategy", STRATEGIES)(run.config["strategy"])
    gate = getattr(strategy, "gate", None)
    if not isinstance(gate, Gate) or album.benchmark.coverage is None:
        return None
    coverage: dict[str, Floats] = {}
    foreign: dict[str, NDArray[np.bool_]] = {}
    rulings: list[Ruling] = []
    for warm_up, query in first_queries(run):
        truth = np.array([album.label(sample) for sample in query.ids])
        if len(truth) == 0 or (truth < OUTLIER).any():
            continue
        signal = gate.signal(*_pool(warm_up, query, album))
        if isinstance(signal, str):
            continue
        site = query.site
        foreign[site], coverage[site] = truth == OUTLIER, signal.G.numpy()
        for rule, threshold in THRESHOLDS.items():
            deployed = gate.threshold.name == rule
            one = gate if deployed else gate.model_copy(update={"threshold": threshold()})
            decision = one.judge(signal)
            refused = ~decision.keep.numpy()
            rulings.append(_ruling(site, rule, decision.diagnosis.cut, refused, foreign[site]))
    if not rulings:
        return None
    return GateStudy(gate.density.name, gate.threshold.name, coverage, foreign, tuple(rulings))


def _pool(warm_up: SiteQuery, query: SiteQuery, album: Album) -> tuple[Tensor, ...]:
    """g of U; g of L_ID and its classes; g of L_OOD: what the gate is given."""
    inside = {s: label for s, label in warm_up.answers.items() if label != OUTLIER}
    outside = [s for s, label in warm_up.answers.items() if label == OUTLIER]
    labels = torch.tensor(list(inside.values()), dtype=torch.int64)
    return (
        album.coverage(query.ids),
        album.coverage(tuple(inside)),
        labels,
        album.coverage(tuple(outside)),
    )


def _ruling(
    site: str, rule: str, cut: float, refused: NDArray[np.bool_], foreign: NDArray[np.bool_]
) -> Ruling:
    def share(own: NDArray[np.bool_]) -> float:
        return float(refused[own].mean()) if own.any() else float("nan")

    return Ruling(site, rule, cut, share(foreign), share(~foreign))
