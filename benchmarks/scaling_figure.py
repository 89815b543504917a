"""The figure of `scaling.py`: seconds and MiB over each size, log-log, with the exponents."""

from collections.abc import Sequence
from pathlib import Path
from typing import Protocol

import matplotlib as mpl

mpl.use("agg")
import matplotlib.pyplot as plt


class Drawn(Protocol):
    """What the figure reads of a curve."""

    phase: str
    over: str
    sizes: list[int]
    seconds: list[float]
    mib: list[float]

    @property
    def exponent(self) -> float: ...


def draw(curves: Sequence[Drawn], path: Path) -> None:
    sizes = list(dict.fromkeys(curve.over for curve in curves))
    figure, axes = plt.subplots(
        2, len(sizes), figsize=(3.4 * len(sizes), 5), squeeze=False, layout="constrained"
    )
    for column, over in zip(axes.T, sizes, strict=True):
        for curve in (c for c in curves if c.over == over):
            name = f"{curve.phase}: {curve.exponent:.2f}"
            column[0].loglog(curve.sizes, curve.seconds, "o-", label=name, markersize=3)
            column[1].loglog(curve.sizes, [max(m, 0.1) for m in curve.mib], "o-", markersize=3)
        column[0].set_title(over)
        column[0].legend(title="exponent", fontsize=7, title_fontsize=7)
        column[1].set_xlabel(over)
    axes[0][0].set_ylabel("seconds")
    axes[1][0].set_ylabel("MiB beyond inputs")
    figure.savefig(path)
    plt.close(figure)
