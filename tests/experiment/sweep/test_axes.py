import tomllib

import pytest

from fidal.experiment.config import ConfigError
from fidal.experiment.sweep.axes import Axis, axes_of


def axes(text: str) -> list[Axis]:
    return axes_of(tomllib.loads(text)["sweep"])


def test_each_list_is_an_axis_in_the_order_written() -> None:
    found = axes('[sweep]\nstrategy = ["fidal", "random"]\nseed = [0, 1, 2]')
    assert found == [
        Axis(("strategy",), (("fidal",), ("random",))),
        Axis(("seed",), ((0,), (1,), (2,))),
    ]


def test_dotted_keys_may_be_quoted_or_not() -> None:
    quoted = axes('[sweep]\n"strategy.gate.density" = ["diagonal", "knn-cosine"]')
    assert quoted == axes('[sweep]\nstrategy.gate.density = ["diagonal", "knn-cosine"]')
    assert quoted[0].keys == ("strategy.gate.density",)


def test_values_may_be_tables_and_lists() -> None:
    found = axes('[sweep]\nstrategy = [{name = "fidal", gate = "none"}, "random"]\na = [[1, 2]]')
    assert found[0].steps[0] == ({"name": "fidal", "gate": "none"},)
    assert found[1].steps == (([1, 2],),)


def test_lists_of_one_together_go_side_by_side() -> None:
    found = axes(
        "[sweep]\nseed = [0, 1]\n"
        "[[sweep.together]]\nbudget = [50, 150]\ntraining.rounds = [20, 10]\n"
        "[[sweep.together]]\noracle_error = [0.0, 0.1]"
    )
    assert found[1] == Axis(("budget", "training.rounds"), ((50, 20), (150, 10)))
    assert found[2] == Axis(("oracle_error",), ((0.0,), (0.1,)))


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("sweep = 3", r"sweep is 3; it must be a table of lists"),
        ("[sweep]\nseed = 3", r"sweep\.seed is 3; it must be a list"),
        ("[sweep]\nseed = []", r"sweep\.seed is an empty list"),
        ("[sweep]\nbudget = {a = 1}", r"sweep\.budget\.a is 1; it must be a list"),
        ("[sweep]\ntogether = [3]", r"sweep\.together holds 3; write \[\[sweep\.together\]\]"),
        ("[sweep]\ntogether = 3", r"sweep\.together holds 3; write"),
        ("[[sweep.together]]\nseed = []", r"sweep\.together: seed is an empty list"),
        (
            "[[sweep.together]]\nbudget = [1, 2, 3]\nseed = [0, 1]\nrounds = [1, 2]",
            "lists that go together have one length; values here: budget 3, seed 2, rounds 2",
        ),
        ("[sweep]\nseed = [0]\n[[sweep.together]]\nseed = [1]", "sweep varies 'seed' twice"),
    ],
)
def test_what_is_no_axis(text: str, says: str) -> None:
    with pytest.raises(ConfigError, match=says):
        axes(text)
