"""Who is who in a figure: the looks of a study's methods, and one legend below all panels."""

from matplotlib.axes import Axes
from matplotlib.figure import Figure

from fidal.report.frame import Study
from fidal.report.style import Look, looks


def who(study: Study) -> dict[str, Look]:
    """The looks of the methods that are compared; missing seeds are named: `BADGE [2/3 seeds]`."""
    named = {}
    for method, look in looks(study.main).items():
        last = study.spread(method, study.score(), study.rounds[-1])
        short = "" if last.seeds == last.of else f" [{last.seeds}/{last.of} seeds]"
        named[method] = Look(look.label + short, look.colour, look.marker)
    return named


def legend_below(figure: Figure, axes: Axes, columns: int) -> None:
    """At most so many columns, rows filled evenly."""
    handles, labels = axes.get_legend_handles_labels()
    if not handles:
        return
    rows = -(-len(handles) // columns)
    figure.legend(handles, labels, loc="outside lower center", ncols=-(-len(handles) // rows))
