from dataclasses import replace

import numpy as np
import pytest
import torch
from torch import Tensor

from fidal.checks.pools import make_pool
from fidal.learning.objectives import OBJECTIVES
from fidal.learning.objectives.detector import Detector
from fidal.strategies import STRATEGIES
from fidal.strategies.base import Pick, Strategy, random_rows, top
from fidal.types import Diagnosis, Labelled, Outliers, Pool, Query


class Recorder(Strategy):
    """Takes the candidates as they come, and reports the first feature and what it was handed."""

    name = "recorder"
    needs = ("coverage",)

    def pick(self, pool: Pool, budget: int, rng: np.random.Generator) -> Pick:
        HANDED.append((pool, budget, torch.is_grad_enabled()))
        return Pick(
            torch.arange(budget).flip(0),
            {"first": pool.features[:, 0]},
            Diagnosis(filled=1, notes=("as they come",)),
        )


HANDED: list[tuple[Pool, int, bool]] = []


def named(*ids: str) -> Pool:
    """A pool whose candidate `i` has the first feature i."""
    pool = make_pool(n=len(ids)).pool
    features = pool.features.clone()
    features[:, 0] = torch.arange(float(len(ids)))
    return replace(pool, ids=ids, features=features)


def select(pool: Pool, budget: int) -> Query:
    HANDED.clear()
    return Recorder().select(pool, budget, np.random.default_rng(0))


def test_a_strategy_sees_the_pool_in_the_order_of_the_ids() -> None:
    select(named("c", "a", "b", "d"), 2)
    ((pool, budget, _),) = HANDED
    assert pool.ids == ("a", "b", "c", "d") and budget == 2
    assert pool.features[:, 0].tolist() == [1, 2, 0, 3]


def test_its_rows_become_ids_best_first_and_its_scores_go_back_to_the_pools_order() -> None:
    query = select(named("c", "a", "b", "d"), 3)
    assert query.ids == ("c", "b", "a")
    assert query.scores["first"].tolist() == [0, 1, 2, 3]
    assert query.diagnosis == Diagnosis(filled=1, notes=("as they come",))


def test_ids_are_sorted_as_text() -> None:
    assert select(named("img-9", "img-10"), 2).ids == ("img-9", "img-10")  # best first: flipped


@pytest.mark.parametrize(("budget", "handed"), [(1, 1), (4, 4), (99, 4)])
def test_the_budget_is_at_most_the_pool(budget: int, handed: int) -> None:
    query = select(named("d", "b", "c", "a"), budget)
    assert HANDED[0][1] == len(query.ids) == handed


@pytest.mark.parametrize("ids", [("a", "b"), ()])
def test_nothing_to_spend_or_nobody_there_is_an_empty_query_and_no_question(
    ids: tuple[str, ...],
) -> None:
    query = select(named(*ids), 0 if ids else 5)
    assert query.ids == () and query.scores == {} and not HANDED


def test_a_choice_builds_no_graph() -> None:
    pool = named("a", "b")
    query = select(replace(pool, features=pool.features.requires_grad_()), 1)
    assert HANDED[0][2] is False
    assert torch.is_grad_enabled() and query.ids == ("a",)


def test_a_pool_that_is_not_admitted_is_not_looked_at() -> None:
    pool = named("a", "b")
    with pytest.raises(ValueError, match=r"'recorder' needs Pool\.coverage of the 2 candidates"):
        select(replace(pool, coverage=None), 1)
    with pytest.raises(ValueError, match="budget is -1"):
        select(pool, -1)
    with pytest.raises(ValueError, match="budget is -1"):
        select(named(), -1)
    assert not HANDED


def test_the_outputs_of_its_objective_are_needed_too() -> None:
    pool, asking = named("a", "b"), Recorder(objective=Detector())
    bare = replace(pool, outputs={})
    with pytest.raises(ValueError, match=r"Pool\.outputs\['detector'\]"):
        asking.select(bare, 1, np.random.default_rng(0))
    assert select(bare, 1).ids == ("a",)


def test_objectives_are_chosen_by_name_and_plain_cross_entropy_is_the_default() -> None:
    chosen = Recorder.model_validate({"objective": {"name": "detector", "temperature": 0.7}})
    assert chosen.objective == Detector(temperature=0.7)
    assert Recorder().objective == OBJECTIVES["cross-entropy"]()
    assert Recorder.model_validate(chosen.model_dump()) == chosen


@pytest.mark.parametrize("name", STRATEGIES)
def test_every_strategy_names_itself_describes_its_fields_and_asks_for_known_ones(
    name: str,
) -> None:
    strategy = STRATEGIES[name]()
    assert strategy.name == name and type(strategy).__doc__
    assert all(field.description for field in type(strategy).model_fields.values())
    assert set(strategy.required()) <= {"coverage", "prompts", "global_features"}


@pytest.mark.parametrize("name", STRATEGIES)
def test_every_strategy_says_what_it_misses_with_site_field_and_count(name: str) -> None:
    strategy, pool = STRATEGIES[name](), make_pool().pool
    without = {field: replace(pool, **{field: None}) for field in strategy.required()}
    for output in strategy.objective.outputs:
        rest = {key: x for key, x in pool.outputs.items() if key != output}
        without[f"outputs['{output}']"] = replace(pool, outputs=rest)
    for field, bare in without.items():
        with pytest.raises(ValueError) as error:
            strategy.select(bare, 5, np.random.default_rng(0))
        assert str(error.value).startswith(f"site 'clinic-a': strategy '{name}' needs Pool.{field}")
        assert "of the 120 candidates, which is absent; " in str(error.value)


def without_what_it_does_not_need(strategy: Strategy, pool: Pool) -> Pool:
    known, foreign = pool.labelled, pool.outliers
    if "coverage" not in strategy.required():
        known, foreign = replace(known, coverage=None), Outliers(foreign.features)
        pool = replace(pool, coverage=None)
    if "global_features" not in strategy.required():
        known = Labelled(known.features, known.labels, known.coverage)
        pool = replace(pool, global_features=None)
    if "prompts" not in strategy.required():
        pool = replace(pool, prompts=None)
    wanted = {name: pool.outputs[name] for name in strategy.objective.outputs}
    return replace(pool, labelled=known, outliers=foreign, outputs=wanted)


@pytest.mark.parametrize("name", STRATEGIES)
def test_every_strategy_gets_by_with_what_it_says_it_needs(name: str) -> None:
    strategy = STRATEGIES[name]()
    pool = without_what_it_does_not_need(strategy, make_pool().pool)
    assert len(set(strategy.select(pool, 25, np.random.default_rng(0)).ids)) == 25


def test_top_keeps_ties_in_the_order_of_the_rows() -> None:
    scores = torch.tensor([1.0, 3.0, 2.0, 3.0, 2.0, 2.0])
    assert top(scores, 4).tolist() == [1, 3, 2, 4]
    assert top(scores, 0).tolist() == [] and len(top(scores, 9)) == 6
    tied: Tensor = torch.zeros(1000)
    assert top(tied, 1000).tolist() == list(range(1000))


def test_random_rows_are_distinct_uniform_and_repeat() -> None:
    rng = np.random.default_rng(0)
    counts = torch.zeros(10)
    for _ in range(3000):
        rows = random_rows(10, 3, rng, like=counts)
        assert len(set(rows.tolist())) == 3
        counts[rows] += 1
    # Binomial(3000, 3/10): mean 900, standard deviation 25.
    assert 800 < float(counts.min()) <= float(counts.max()) < 1000
    one, again = (random_rows(10, 10, np.random.default_rng(5), like=counts) for _ in range(2))
    assert torch.equal(one, again) and sorted(one.tolist()) == list(range(10))
    assert random_rows(10, 0, rng, like=counts).tolist() == []
