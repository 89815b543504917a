"""The one style of all figures: sizes, fonts, colours, and the look of every strategy.

Colours can be told apart with red-green and blue-yellow colour blindness (Okabe and Ito's palette
first, then Tol's muted one), and never alone: a strategy also has its marker.
"""

import textwrap
import zlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import wraps
from typing import Any, Final, ParamSpec, TypeVar

import matplotlib
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

ONE_COLUMN: Final = 3.4
TWO_COLUMNS: Final = 7.0
"""Inches. Text is never smaller than 6 pt at these widths."""

ID, OOD, REFUSED, LOST = "#1F77B4", "#D62728", "#009E73", "#E69F00"
"""Blue and red as in the paper; green and orange for what a gate refused rightly and wrongly."""

GREY: Final = "#5F5F5F"

RC: Final[Any] = {
    "font.family": "DejaVu Sans",
    "font.size": 7,
    "axes.titlesize": 7.5,
    "axes.labelsize": 7,
    "xtick.labelsize": 6.5,
    "ytick.labelsize": 6.5,
    "legend.fontsize": 6.5,
    "figure.titlesize": 8,
    "axes.titleweight": "bold",
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.linewidth": 0.6,
    "axes.grid": True,
    "axes.axisbelow": True,
    "grid.color": "#E4E4E4",
    "grid.linewidth": 0.5,
    "xtick.major.width": 0.6,
    "ytick.major.width": 0.6,
    "xtick.major.size": 2.5,
    "ytick.major.size": 2.5,
    "lines.linewidth": 1.1,
    "lines.markersize": 3.5,
    "legend.frameon": False,
    "legend.handlelength": 1.6,
    "legend.columnspacing": 1.2,
    "figure.facecolor": "white",
    "savefig.facecolor": "white",
    "svg.fonttype": "path",
    "svg.hashsalt": "fidal",
}


@dataclass(frozen=True)
class Look:
    """How a method is drawn, in every figure."""

    label: str
    colour: str
    marker: str


KNOWN: Final[Mapping[str, Look]] = {
    "random": Look("Random", "#6E6E6E", "o"),
    "entropy": Look("Entropy", "#E69F00", "s"),
    "margin": Look("Margin", "#999933", "s"),
    "badge": Look("BADGE", "#009E73", "^"),
    "coreset": Look("Core-set", "#117733", "p"),
    "typiclust": Look("TypiClust", "#44AA99", "d"),
    "herding": Look("Herding", "#88CCEE", "8"),
    "logo": Look("LoGo", "#AA4499", ">"),
    "feal": Look("FEAL", "#CC79A7", "D"),
    "pal": Look("PAL", "#D55E00", "v"),
    "lfosa": Look("LfOSA", "#8C510A", "X"),
    "eoal": Look("EOAL", "#332288", "P"),
    "openpath": Look("OpenPath*", "#882255", "<"),
    "fidal-paper": Look("FIDAL (as printed)", "#56B4E9", "*"),
    "fidal": Look("FIDAL", "#0072B2", "*"),
}
"""In the order of tables and legends: the paper's, the method itself last."""

_SPARE_COLOURS: Final = (
    "#AA3377",
    "#228833",
    "#CCBB44",
    "#4477AA",
    "#EE6677",
    "#66CCEE",
    "#000000",
)
_SPARE_MARKERS: Final = ("D", "v", "X", "P", "<", ">", "h", "d", "p")
_SPARE: Final = tuple((c, m) for m in _SPARE_MARKERS for c in _SPARE_COLOURS)


def ordered(methods: Iterable[str]) -> tuple[str, ...]:
    """Known strategies in the paper's order, others by name before `fidal`, variants behind it."""
    known = list(KNOWN)

    def place(method: str) -> tuple[int, str]:
        strategy = _strategy(method)
        late = known.index("fidal-paper") - 0.5
        return (int(2 * (known.index(strategy) if strategy in KNOWN else late)), method)

    return tuple(sorted(methods, key=place))


def looks(methods: Iterable[str]) -> dict[str, Look]:
    """The look of each method, never two alike: a known strategy's own, else one by its name."""
    methods = ordered(methods)
    strategies = [_strategy(method) for method in methods]
    chosen: dict[str, Look] = {}
    taken: set[int] = set()
    for method, strategy in zip(methods, strategies, strict=True):
        known = KNOWN.get(strategy)
        name = known.label + method.removeprefix(strategy) if known else method
        if known and (method == strategy or strategies.count(strategy) == 1):
            chosen[method] = replace(known, label=name)
            continue
        place = zlib.crc32(method.encode()) % len(_SPARE)
        while place in taken and len(taken) < len(_SPARE):
            place = (place + 1) % len(_SPARE)
        taken.add(place)
        chosen[method] = Look(name, *_SPARE[place])
    return chosen


def in_turn(names: Sequence[str]) -> dict[str, Look]:
    """Looks for what stands in one figure only: neighbours differ in both colour and marker."""
    colours, markers = _SPARE_COLOURS, _SPARE_MARKERS
    return {
        name: Look(name, colours[i % len(colours)], markers[i % len(markers)])
        for i, name in enumerate(names)
    }


def label(method: str) -> str:
    """The method as the paper writes it."""
    return looks([method])[method].label


def _strategy(method: str) -> str:
    return method.split(" (")[0]


P = ParamSpec("P")
R = TypeVar("R")


def styled(draw: Callable[P, R]) -> Callable[P, R]:
    """Draw in this style, and leave matplotlib's global settings as they were."""

    @wraps(draw)
    def inside(*args: P.args, **kwargs: P.kwargs) -> R:
        with matplotlib.rc_context(RC):
            return draw(*args, **kwargs)

    return inside


def figure(width: float, height: float) -> Figure:
    """An empty figure, in inches; it lays itself out without overlaps."""
    made = Figure(figsize=(width, height), layout="constrained")
    engine = made.get_layout_engine()
    assert engine is not None
    engine.set(w_pad=0.04, h_pad=0.04, wspace=0.04, hspace=0.06)  # type: ignore[call-arg]
    return made


def tag(artist: Artist, strategy: str) -> None:
    """Say whose artist this is, so that the page's filter can hide it."""
    artist.set_gid(f"strategy={strategy}")


def mark(look: Look, size: float) -> dict[str, Any]:
    """Keywords of `plot`: the look's colour and marker, of a size relative to the usual one.

    Lines are asked for with "linestyle"; a star needs more room to be seen as one.
    """
    return {
        "color": look.colour,
        "marker": look.marker,
        "markersize": 3.5 * size * (1.7 if look.marker == "*" else 1),
        "markeredgecolor": "white",
        "markeredgewidth": 0.3,
        "linestyle": "none",
    }


def fitted(name: str, width: int = 24) -> str:
    """A site's or a class's name in at most two lines of so many letters.

    >>> fitted("University Hospital of the Northern Province", 16)
    'University\\nHospital of the…'
    """
    first, *rest = textwrap.wrap(name, width) or [""]
    if not rest:
        return first
    return f"{first}\n{rest[0]}" if len(rest) == 1 else f"{first}\n{rest[0][: width - 1]}…"


def panels(
    figure: Figure, rows: int, columns: int, count: int, share: bool = False, sharey: bool = False
) -> list[Axes]:
    """The first `count` panels of a grid, row by row; the others are not there."""
    grid = (
        figure.subplots(rows, columns, squeeze=False, sharex=share, sharey=share or sharey)
        .ravel()
        .tolist()
    )
    for axes in grid[count:]:
        axes.remove()
    return list(grid[:count])


def across(count: int) -> int:
    """Columns of a grid of so many panels: at most three, and no row of one alone below three."""
    return 2 if count in (2, 4) else min(3, count)


def rounds_along(axes: Axes, most: int) -> None:
    """AL rounds on the x-axis, R0, R1, ...: at most so many of them written."""
    axes.xaxis.set_major_locator(MaxNLocator(most, integer=True))
    axes.xaxis.set_major_formatter("R{x:.0f}")


def side_colour(points: float) -> str:
    """Blue where the reference leads, red where it trails, grey where neither can be told."""
    if not abs(points) >= 0.05:
        return GREY
    return ID if points > 0 else OOD


def signed(points: float) -> str:
    """`+1.2`, `−0.3`, `0.0`."""
    text = f"{points:+.1f}".replace("-", "−")
    return "0.0" if text in ("+0.0", "−0.0") else text
