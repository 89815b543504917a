"""The rules of the gate compared at the first query (Figure 4, middle and bottom)."""

from typing import Final

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D
from matplotlib.patches import Patch

from fidal.report.gate_study import RULES, GateStudy
from fidal.report.style import GREY, ID, OOD, TWO_COLUMNS, figure, styled
from fidal.report.tables.gate_rules import name_of

TITLE: Final = "Where each rule would cut, and at what price"
CAPTION: Final = (
    "First query after the warm-up, first seed. Left, above: the coverage G of all candidates, "
    "sites together (ID blue, OOD red). Below it, rule by rule: the band spans the sites’ "
    "thresholds (a dot each), and the bar is their median; candidates left of a threshold are "
    "refused. Right: the share of OOD caught (high is good) and of ID lost (low is good), one bar "
    "per site from top to bottom, and the mean over sites in numbers. The rule that ran is in bold."
)

TRACK: Final = "#F0F0F0"
"""Behind a bar, so that a bar of 0 % has its place too."""


@styled
def draw(gate: GateStudy | None) -> Figure | None:
    """None without a gate, or without what the sites kept."""
    if gate is None:
        return None
    made = figure(TWO_COLUMNS, 3.6)
    grid = made.add_gridspec(2, 3, height_ratios=(1, 1.7), width_ratios=(1.5, 1, 1))
    above = made.add_subplot(grid[0, 0])
    below = made.add_subplot(grid[1, 0], sharex=above)
    _histogram(above, gate)
    _bands(below, gate)
    caught, lost = (made.add_subplot(grid[:, column]) for column in (1, 2))
    _bars(caught, gate, "caught", OOD)
    _bars(lost, gate, "lost", ID)
    lost.set_yticklabels([])
    made.legend(
        handles=[
            Patch(color=ID, alpha=0.55, label="ID"),
            Patch(color=OOD, alpha=0.55, label="OOD"),
            Line2D([], [], color=GREY, marker="o", ms=3, ls="none", label="a site’s threshold"),
            Line2D([], [], color="black", lw=1.5, label="median threshold"),
        ],
        loc="outside lower center",
        ncols=4,
    )
    return made


def _histogram(axes: Axes, gate: GateStudy) -> None:
    coverage = np.concatenate(list(gate.coverage.values()))
    foreign = np.concatenate(list(gate.foreign.values()))
    bins = np.linspace(0, 1, 41).tolist()
    for own, colour in ((~foreign, ID), (foreign, OOD)):
        axes.hist(coverage[own], bins, color=colour, alpha=0.55, histtype="stepfilled")
    axes.set_xlim(-0.02, 1.02)
    axes.set_ylabel("candidates")
    axes.tick_params(labelbottom=False)


def _bands(axes: Axes, gate: GateStudy) -> None:
    for row, rule in enumerate(RULES):
        cuts = [ruling.cut for ruling in gate.of(rule)]
        axes.barh(row, max(cuts) - min(cuts), left=min(cuts), height=0.55, color=GREY, alpha=0.25)
        axes.plot(cuts, [row] * len(cuts), "o", ms=3, color=GREY, mec="white", mew=0.3)
        middle = float(np.median(cuts))
        axes.plot([middle, middle], [row - 0.32, row + 0.32], color="black", lw=1.5)
    _rules(axes, gate)
    axes.set_xlabel("coverage G (low is foreign)")


def _bars(axes: Axes, gate: GateStudy, what: str, colour: str) -> None:
    for row, rule in enumerate(RULES):
        shares = np.array([100 * getattr(ruling, what) for ruling in gate.of(rule)])
        height = 0.78 / len(shares)
        rows = row + height * (np.arange(len(shares)) - (len(shares) - 1) / 2)
        axes.barh(rows, 100, height=0.85 * height, color=TRACK)
        axes.barh(rows, np.nan_to_num(shares), height=0.85 * height, color=colour)
        if np.isfinite(shares).any():
            mean = f"{np.nanmean(shares):.0f} %"
            axes.text(103, row, mean, va="center", weight="bold", fontsize=6.5)
    _rules(axes, gate)
    axes.tick_params(axis="y", length=0)
    axes.set_xlim(0, 122)
    axes.set_xticks([0, 25, 50, 75, 100])
    axes.set_title({"caught": "OOD caught (%)", "lost": "ID lost (%)"}[what])


def _rules(axes: Axes, gate: GateStudy) -> None:
    axes.set_yticks(range(len(RULES)), [name_of(rule) for rule in RULES])
    for text, rule in zip(axes.get_yticklabels(), RULES, strict=True):
        text.set_fontweight("bold" if rule == gate.deployed else "normal")
    axes.set_ylim(len(RULES) - 0.45, -0.55)
    axes.grid(axis="y", visible=False)
