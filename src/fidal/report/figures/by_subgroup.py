"""The score by subgroup: sex, age, skin tone, or whatever else a manifest has recorded."""

from collections.abc import Sequence
from typing import Final

from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from fidal.report.comparing import reference
from fidal.report.figures.legend import legend_below, who
from fidal.report.frame import Study
from fidal.report.style import GREY, TWO_COLUMNS, across, figure, fitted, mark, styled, tag
from fidal.report.subgroups import FEW, Subgroup

TITLE: Final = "Results by subgroup"
CAPTION: Final = (
    "The score on the test images of each subgroup, all sites together, at the last round; mean "
    "over seeds, the bar of the reference ± one standard deviation. In brackets the number of "
    f"images; grey: fewer than {FEW}, where a score is mostly chance. Groups that hold other "
    "classes have another task."
)


@styled
def draw(study: Study, groups: Sequence[Subgroup]) -> Figure | None:
    """One panel per column of the manifest; None without subgroups."""
    if not groups:
        return None
    columns = list(dict.fromkeys(group.column for group in groups))
    own = {column: [g for g in groups if g.column == column] for column in columns}
    wide = across(len(columns))
    rows = -(-len(columns) // wide)
    tallest = max(len(each) for each in own.values())
    made = figure(TWO_COLUMNS, rows * (0.6 + 0.22 * tallest) + 0.4)
    grid = made.subplots(rows, wide, squeeze=False, sharex=True).ravel().tolist()
    for axes, column in zip(grid, columns, strict=False):
        _panel(axes, study, own[column])
        axes.set_title(fitted(column))
        axes.set_xlabel(f"{study.score_name} (%)")
    for axes in grid[len(columns) :]:
        axes.remove()
    legend_below(made, [(grid[0], study)], 6)
    return made


def _panel(axes: Axes, study: Study, groups: Sequence[Subgroup]) -> None:
    for method, look in who(study).items():
        spreads = [group.scores[method] for group in groups]
        means = [100 * spread.mean for spread in spreads]
        rows = range(len(groups))
        artists: list[Artist] = [
            *axes.plot(means, rows, label=look.label, zorder=3, **mark(look, 1.3))
        ]
        if method == reference(study):
            std = [100 * s.std if s.seeds > 1 else 0.0 for s in spreads]
            bars = axes.errorbar(
                means, rows, xerr=std, fmt="none", ecolor=look.colour, elinewidth=0.7
            )
            artists += bars.get_children()
        for artist in artists:
            tag(artist, study.strategy(method))
    axes.set_yticks(range(len(groups)), [fitted(f"{g.value} ({g.images:,})") for g in groups])
    for text, group in zip(axes.get_yticklabels(), groups, strict=True):
        text.set_color(GREY if group.few else "black")
        text.set_fontstyle("italic" if group.few else "normal")
    axes.set_ylim(len(groups) - 0.5, -0.5)
