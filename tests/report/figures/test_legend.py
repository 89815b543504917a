from dataclasses import replace

from matplotlib.figure import Figure

from fidal.report.figures.legend import legend_below, who
from fidal.report.frame import Study


def drawn(study: Study) -> Figure:
    made = Figure(layout="constrained")
    axes = made.add_subplot()
    for look in who(study).values():
        axes.plot([0, 1], [0, 1], label=look.label)
    return made


def test_missing_seeds_are_named_in_the_legend(patchy: Study) -> None:
    assert [look.label for look in who(patchy).values()] == [
        "Random",
        "Entropy [2/3 seeds]",
        "BADGE [2/3 seeds]",
        "FIDAL",
    ]


def test_entries_are_filled_evenly_and_are_their_strategies(study: Study) -> None:
    made = drawn(study)
    legend_below(made, [(made.axes[0], study)], 3)
    (legend,) = made.legends
    assert legend._ncols == 2  # four entries: two rows of two, not three and one
    owners = [text.get_gid() for text in legend.get_texts()]
    assert owners == [f"strategy={name}" for name in study.main]
    assert [handle.get_gid() for handle in legend.legend_handles if handle] == owners


def test_panels_of_other_methods_share_one_legend(study: Study) -> None:
    few, other = (replace(study, main=main) for main in (("fidal",), ("random", "fidal")))
    one, two = drawn(few), drawn(other)
    legend_below(one, [(one.axes[0], few), (two.axes[0], other)], 6)
    texts = [text.get_text() for text in one.legends[0].get_texts()]
    assert texts == ["Random", "FIDAL"]
