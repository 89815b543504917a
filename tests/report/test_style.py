import itertools

import matplotlib
import pytest
from matplotlib.colors import to_rgb

from fidal.report.figures import accuracy_ood
from fidal.report.frame import Study
from fidal.report.style import (
    GREY,
    ID,
    KNOWN,
    OOD,
    across,
    fitted,
    in_turn,
    label,
    looks,
    ordered,
    side_colour,
    signed,
)


def test_no_two_strategies_look_alike() -> None:
    many = [*KNOWN, "mine", "yours", *(f"fidal (lambda_div={i})" for i in range(20))]
    drawn = [(look.colour, look.marker) for look in looks(many).values()]
    assert len(set(drawn)) == len(many)
    for one, two in itertools.combinations(KNOWN.values(), 2):
        apart = sum(abs(a - b) for a, b in zip(to_rgb(one.colour), to_rgb(two.colour), strict=True))
        assert one.marker != two.marker or apart > 0.4, (one.label, two.label)


def test_a_strategy_looks_the_same_whoever_stands_beside_it() -> None:
    alone = looks(["badge"])["badge"]
    assert looks([*KNOWN, "mine"])["badge"] == alone
    assert looks(["mine"])["mine"] == looks([*KNOWN, "mine", "badge"])["mine"]


def test_a_lone_variant_looks_like_its_strategy_and_says_what_it_is() -> None:
    look = looks(["fidal (gate=none)", "random"])["fidal (gate=none)"]
    assert (look.colour, look.marker) == (KNOWN["fidal"].colour, "*")
    assert look.label == "FIDAL (gate=none)"


def test_no_strategy_has_the_colour_of_id_or_ood() -> None:
    assert {ID, OOD}.isdisjoint(look.colour for look in KNOWN.values())


def test_the_paper_s_order_and_strangers_before_fidal() -> None:
    names = ["mine", "fidal", "random", "fidal (gate=none)", "badge", "fidal-paper"]
    order = ("random", "badge", "mine", "fidal-paper", "fidal", "fidal (gate=none)")
    assert ordered(names) == order


@pytest.mark.parametrize(
    ("points", "text"), [(1.25, "+1.2"), (-3.0, "−3.0"), (-0.04, "0.0"), (0.0, "0.0")]
)
def test_signed(points: float, text: str) -> None:
    assert signed(points) == text


def test_label_is_the_paper_s() -> None:
    assert label("lfosa") == "LfOSA"
    assert label("mine") == "mine"


def test_drawing_leaves_matplotlib_as_it_was(study: Study) -> None:
    before = dict(matplotlib.rcParams)
    accuracy_ood.draw(study)
    assert dict(matplotlib.rcParams) == before


def test_names_are_fitted_into_two_lines() -> None:
    assert fitted("rosendahl") == "rosendahl"
    assert fitted("Senograph 2000D ADS", 12) == "Senograph\n2000D ADS"
    long = fitted("a name that is far too long for a panel", 10)
    assert long == "a name\nthat is…"
    assert all(len(line) <= 10 for line in long.split("\n"))
    assert fitted("x" * 50, 10) == "x" * 10 + "\n" + "x" * 9 + "…"


def test_grids_have_no_panel_alone_in_a_row_where_they_need_not() -> None:
    assert [across(count) for count in (1, 2, 3, 4, 5, 6, 7)] == [1, 2, 3, 2, 3, 3, 3]


def test_looks_in_turn_differ_from_their_neighbours() -> None:
    found = list(in_turn([str(i) for i in range(20)]).values())
    for one, two in itertools.pairwise(found):
        assert one.colour != two.colour and one.marker != two.marker
    assert len({(look.colour, look.marker) for look in found}) == 20


@pytest.mark.parametrize(
    ("points", "colour"), [(0.1, ID), (-0.1, OOD), (0.01, GREY), (float("nan"), GREY)]
)
def test_side_colour(points: float, colour: str) -> None:
    assert side_colour(points) == colour
