"""Every figure of the report. A new one is its own file and one line in `figures_of`.

A figure's file has a TITLE, a CAPTION and `draw`, which gives None where there is nothing to draw.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from types import ModuleType

from matplotlib.figure import Figure

from fidal.report.album import Album
from fidal.report.evidence import SiteQuery
from fidal.report.exemplars import choose
from fidal.report.figures import (
    ablation,
    accuracy_ood,
    composition,
    cost,
    coverage_map,
    exemplars,
    gate,
    lambda_grid,
    pareto,
    pareto_sites,
    radar,
    settings_radar,
    settings_trajectories,
    trajectories,
)
from fidal.report.frame import Study
from fidal.report.tables.cost import READING_SECONDS


@dataclass(frozen=True)
class Drawn:
    """A figure, and what stands beside it. `name` is its file's."""

    name: str
    title: str
    caption: str
    figure: Figure


def figures_of(
    study: Study,
    queries: Sequence[SiteQuery] = (),
    album: Album | None = None,
    seconds: float = READING_SECONDS,
) -> list[Drawn]:
    """Those that a study holds something for. `queries` and `album` are of its reference's run."""
    label = album.label if album else None
    every = (
        (accuracy_ood, accuracy_ood.draw(study)),
        (pareto, pareto.draw(study)),
        (trajectories, trajectories.draw(study)),
        (exemplars, exemplars.draw(choose(queries, album), album) if album else None),
        (cost, cost.draw(study, seconds)),
        (radar, radar.draw(study)),
        (composition, composition.draw(study)),
        (gate, gate.draw(study, queries, label)),
        (coverage_map, coverage_map.draw(album, study.sites) if album else None),
        (pareto_sites, pareto_sites.draw(study)),
        (ablation, ablation.draw(study)),
        (lambda_grid, lambda_grid.draw(study)),
    )
    return _present(every)


def figures_across(studies: Sequence[Study]) -> list[Drawn]:
    """Those that set the settings of one benchmark side by side."""
    every = (
        (settings_radar, settings_radar.draw(studies)),
        (settings_trajectories, settings_trajectories.draw(studies)),
    )
    return _present(every)


def _present(every: Sequence[tuple[ModuleType, Figure | None]]) -> list[Drawn]:
    return [
        Drawn(file.__name__.split(".")[-1].replace("_", "-"), file.TITLE, file.CAPTION, figure)
        for file, figure in every
        if figure is not None
    ]
