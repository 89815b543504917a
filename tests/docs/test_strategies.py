from fidal.strategies import STRATEGIES
from tests.docs.blocks import blocks, first_column


def test_the_table_lists_every_strategy_once() -> None:
    assert sorted(first_column("docs/strategies.md")) == sorted(STRATEGIES)


def test_the_strategy_that_is_shown_keeps_the_contract() -> None:
    code, check = blocks("docs/strategies.md", "python")
    names: dict[str, object] = {"__name__": "least_confident"}
    exec(code, names)
    exec(check, names)
