"""The pilot as a figure (after Figure 4): G per site, what each rule does there, and all gates."""

from collections.abc import Sequence
from typing import Final

import numpy as np
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.colors import Normalize
from matplotlib.figure import Figure, SubFigure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch, Rectangle

from fidal.gates import DENSITIES, THRESHOLDS
from fidal.pilot.recommendation import Recommendation
from fidal.pilot.scores import Basis, Score, scores
from fidal.pilot.tables import pair
from fidal.pilot.trials import Floats, SiteTrials, Trial
from fidal.report.style import GREY, ID, OOD, TWO_COLUMNS, figure, styled

COLUMNS: Final = 4
CUTS: Final = dict(
    zip(THRESHOLDS, ("#000000", "#E69F00", "#56B4E9", "#009E73", "#CC79A7", "#8C510A"), strict=True)
)
COST: Final = Normalize(0, 10)


@styled
def draw(sites: Sequence[SiteTrials], chosen: Recommendation) -> Figure:
    """Top: G of the chosen density. Middle: its thresholds, site by site. Bottom: all gates."""
    rows = -(-len(sites) // COLUMNS)
    bases: list[Basis] = [basis for basis in ("labels", "truth") if scores(sites, basis)]
    made = figure(TWO_COLUMNS, 1.5 * rows + 3.9)
    parts = made.subfigures(3, 1, squeeze=False, height_ratios=[1.5 * rows, 1.75, 1.95])
    above, middle, below = parts.ravel().tolist()
    _histograms(above, sites, chosen, rows)
    _bars(middle, sites, chosen)
    _grids(below, sites, chosen, bases)
    return made


def _histograms(
    part: SubFigure, sites: Sequence[SiteTrials], chosen: Recommendation, rows: int
) -> None:
    columns = min(COLUMNS, len(sites))
    grid = part.subplots(rows, columns, squeeze=False).ravel().tolist()
    for axes in grid[len(sites) :]:
        axes.remove()
    for axes, site in zip(grid, sites, strict=False):
        _histogram(axes, site, chosen)
    truth = sites[0].pool.foreign is not None
    fill = [Patch(color=ID, alpha=0.55, label="ID"), Patch(color=OOD, alpha=0.55, label="OOD")]
    ticks = [
        Line2D([], [], color=colour, marker="|", ls="none", label=f"labelled {word}")
        for colour, word in ((ID, "ID"), (OOD, "OOD"))
    ]
    cuts = [Line2D([], [], color=colour, lw=1, label=name) for name, colour in CUTS.items()]
    shown = fill if truth else [Patch(color=GREY, alpha=0.55, label="candidates")]
    handles: list[Artist] = [*shown, *ticks, *cuts]
    part.legend(handles=handles, loc="outside lower center", ncols=5)
    part.suptitle(f"Coverage G of the candidates, density {chosen.score.density}")


def _histogram(axes: Axes, site: SiteTrials, chosen: Recommendation) -> None:
    axes.set_title(site.pool.site)
    axes.set(xlim=(0, 1), yticks=[])
    axes.grid(False)
    signal = site.signals.get(chosen.score.density)
    if signal is None:
        axes.text(0.5, 0.5, "no gate here", transform=axes.transAxes, ha="center")
        return
    G, foreign = signal.G.cpu().numpy(), site.pool.foreign
    bins = np.linspace(0, 1, 41).tolist()
    groups = [(GREY, G)] if foreign is None else [(ID, G[~foreign]), (OOD, G[foreign])]
    for colour, own in groups:
        axes.hist(own, bins, color=colour, alpha=0.55, histtype="stepfilled")
    if signal.null is not None:
        _ticks(axes, signal.null.cpu().numpy(), ID, -0.05)
        _ticks(axes, signal.foreign.cpu().numpy(), OOD, -0.11)
    for trial in site.trials:
        if trial.density == chosen.score.density and trial.cut > 0:
            width = 2 if trial.threshold == chosen.score.threshold else 0.9
            axes.axvline(trial.cut, color=CUTS[trial.threshold], lw=width)
    axes.tick_params(axis="x", pad=9)


def _ticks(axes: Axes, at: Floats, colour: str, height: float) -> None:
    """The labelled images below the axis; cross-fitted scores may lie beyond those of the pool."""
    (line,) = axes.plot(
        np.clip(at, 0, 1),
        np.full(len(at), height),
        color=colour,
        marker="|",
        ls="none",
        ms=4,
        mew=0.5,
        clip_on=False,
        transform=axes.get_xaxis_transform(),
    )
    line.set_in_layout(False)


def _bars(part: SubFigure, sites: Sequence[SiteTrials], chosen: Recommendation) -> None:
    """As in Figure 4: one pair of bars per site and threshold, with the mean over sites."""
    axes = part.subplots()
    basis: Basis = "truth" if sites[0].pool.foreign is not None else "labels"
    width, deepest = 0.8 / len(sites), 50.0
    for place, threshold in enumerate(THRESHOLDS):
        for number, site in enumerate(sites):
            trial = _trial(site, chosen.score.density, threshold)
            rates = trial.truth if basis == "truth" else trial.known
            if rates is None:
                continue
            x = place - 0.4 + (number + 0.5) * width
            if rates.outliers:
                axes.bar(x, 100 * rates.caught / rates.outliers, 0.9 * width, color=OOD, alpha=0.8)
            lost = 100 * rates.lost / max(1, rates.inside)
            axes.bar(x, -lost, 0.9 * width, color=ID, alpha=0.8)
            deepest = max(deepest, lost)
    for score in scores(sites, basis):
        if score.density == chosen.score.density:
            _, place = _place(score)
            axes.text(place, 108, pair(score), ha="center", va="bottom", size=6.5)
    axes.axhline(0, color="black", lw=0.6)
    axes.set_ylim(-deepest - 10, 130)
    axes.set_yticks([-100, -50, 0, 50, 100][deepest <= 50 :])
    axes.yaxis.set_major_formatter(lambda share, place: f"{abs(share):g}")
    axes.set_xticks(range(len(THRESHOLDS)), list(THRESHOLDS))
    axes.grid(False, axis="x")
    axes.set_ylabel("ID lost | OOD caught (%)")
    axes.set_title(
        f"{chosen.score.density} x each threshold, a bar per site and the mean ({_word(basis)})"
    )


def _grids(
    part: SubFigure, sites: Sequence[SiteTrials], chosen: Recommendation, bases: Sequence[Basis]
) -> None:
    """OOD caught / ID lost of every gate; the lighter the cheaper."""
    grid = part.subplots(1, len(bases), squeeze=False, sharey=True).ravel().tolist()
    for axes, basis in zip(grid, bases, strict=True):
        image = np.full((len(DENSITIES), len(THRESHOLDS)), np.nan)
        for score in scores(sites, basis):
            row, column = _place(score)
            image[row, column] = score.cost
            colour = "white" if COST(score.cost) > 0.5 else "black"
            axes.text(column, row, pair(score), ha="center", va="center", color=colour, size=6.5)
        axes.imshow(image, cmap="cividis_r", norm=COST, aspect="auto")
        row, column = _place(chosen.score)
        box = Rectangle((column - 0.5, row - 0.5), 1, 1, fill=False, ec=OOD, lw=1.8, clip_on=False)
        axes.add_patch(box)
        axes.set_xticks(range(len(THRESHOLDS)), [t.replace("-", "\n") for t in THRESHOLDS])
        axes.set_yticks(range(len(DENSITIES)), list(DENSITIES))
        axes.grid(False)
        axes.set_title(_word(basis))
    part.suptitle(
        "OOD caught / ID lost (%) of every gate: the lighter, the cheaper; boxed: recommended"
    )


def _place(score: Score) -> tuple[int, int]:
    return list(DENSITIES).index(score.density), list(THRESHOLDS).index(score.threshold)


def _trial(site: SiteTrials, density: str, threshold: str) -> Trial:
    return next(t for t in site.trials if (t.density, t.threshold) == (density, threshold))


def _word(basis: Basis) -> str:
    return {"labels": "by the labelled warm-up", "truth": "by the truth of a benchmark"}[basis]
