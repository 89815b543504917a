"""Every figure of the report. A new one is its own file and one line in `figures_of`.

A figure's file has a TITLE, a CAPTION and `draw`, which gives None where there is nothing to draw.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from types import ModuleType

from matplotlib.figure import Figure

from fidal.report.exemplars import choose
from fidal.report.extras import NOTHING, Extras
from fidal.report.figures import (
    ablation,
    accuracy_ood,
    by_subgroup,
    composition,
    cost,
    coverage_map,
    exemplars,
    gate,
    gate_rules,
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
from fidal.report.variations import Variation


@dataclass(frozen=True)
class Drawn:
    """A figure, and what stands beside it. `name` is its file's."""

    name: str
    title: str
    caption: str
    figure: Figure


def figures_of(
    study: Study, extras: Extras = NOTHING, seconds: float = READING_SECONDS
) -> list[Drawn]:
    """Those that a study holds something for, in the order of the page."""
    album, queries = extras.album, extras.queries
    sheet = exemplars.draw(choose(queries, album), album) if album and queries else None
    how = extras.features.how if extras.features else ""
    every = (
        _drawn(accuracy_ood, accuracy_ood.draw(study)),
        _drawn(pareto, pareto.draw(study)),
        _drawn(trajectories, trajectories.draw(study)),
        _drawn(exemplars, sheet),
        _drawn(cost, cost.draw(study, seconds), seconds=seconds),
        _drawn(radar, radar.draw(study)),
        _drawn(composition, composition.draw(study)),
        _drawn(coverage_map, coverage_map.draw(extras.features, study.sites), how=how),
        _drawn(gate_rules, gate_rules.draw(extras.gate)),
        _drawn(gate, gate.draw(study, queries, album.label if album else None)),
        _drawn(pareto_sites, pareto_sites.draw(study)),
        _drawn(by_subgroup, by_subgroup.draw(study, extras.subgroups)),
        _drawn(ablation, ablation.draw(study)),
        _drawn(lambda_grid, lambda_grid.draw(study)),
    )
    return [drawn for drawn in every if drawn]


def figures_of_sweep(lines: Sequence[Variation]) -> list[Drawn]:
    """Those that set the settings of one benchmark side by side, variation by variation."""
    drawn = []
    for line in lines:
        for file in (settings_trajectories, settings_radar):
            one = _drawn(file, file.draw(line))
            if one:
                name, title = f"{one.name}-{line.name}", f"{one.title}: {line.name}"
                drawn.append(replace(one, name=name, title=title))
    return drawn


def _drawn(file: ModuleType, figure: Figure | None, **said: object) -> Drawn | None:
    """`said` fills the gaps of a caption."""
    if figure is None:
        return None
    name = file.__name__.split(".")[-1].replace("_", "-")
    return Drawn(name, file.TITLE, file.CAPTION.format(**said), figure)
