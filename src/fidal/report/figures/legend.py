"""Who is who in a figure: the looks of a study's methods, and one legend below all panels."""

from collections.abc import Iterable

from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from fidal.report.frame import Study
from fidal.report.style import Look, looks, ordered, tag


def who(study: Study) -> dict[str, Look]:
    """The looks of the methods that are compared; missing seeds are named: `BADGE [2/3 seeds]`."""
    named = {}
    for method, look in looks(study.main).items():
        last = study.spread(method, study.score(), study.rounds[-1])
        short = "" if last.seeds == last.of else f" [{last.seeds}/{last.of} seeds]"
        named[method] = Look(look.label + short, look.colour, look.marker)
    return named


def legend_below(figure: Figure, panels: Iterable[tuple[Axes, Study]], columns: int) -> None:
    """One entry per method of any panel, at most so many columns, rows filled evenly. An entry is
    its strategy's, like the curve that it names."""
    found: dict[str, tuple[Artist, str]] = {}
    for axes, study in panels:
        for method, handle, label in zip(
            study.main, *axes.get_legend_handles_labels(), strict=True
        ):
            found.setdefault(method, (handle, label))
    methods = ordered(found)
    rows = -(-len(methods) // columns)
    made = figure.legend(
        [found[method][0] for method in methods],
        [found[method][1] for method in methods],
        loc="outside lower center",
        ncols=-(-len(methods) // rows),
    )
    entries = zip(methods, made.legend_handles, made.get_texts(), strict=True)
    for method, mark, text in entries:
        for artist in (mark, text):
            if artist is not None:
                tag(artist, method.split(" (")[0])
