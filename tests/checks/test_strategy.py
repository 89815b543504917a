import time

import numpy as np
import pytest
import torch
from pydantic import Field
from torch import Tensor

from fidal.checks import ContractError, check_strategy
from fidal.checks.strategy import odd_pools
from fidal.gates import DENSITIES, THRESHOLDS, Gate
from fidal.strategies import STRATEGIES
from fidal.strategies.base import Pick, Strategy, random_rows, top
from fidal.strategies.fidal import Fidal
from fidal.types import Pool, Query
from fidal.uncertainty import entropy


@pytest.mark.parametrize("name", STRATEGIES)
def test_every_strategy_holds_the_contract(name: str) -> None:
    check_strategy(STRATEGIES[name]())


@pytest.mark.parametrize(
    "options",
    [
        {"gate": None, "coverage_weight": False, "support": "off", "lambda_ood": 0.0},
        {"gate": None, "support": "scaled", "epistemic": "literal", "activation": "softplus"},
        {"coverage_weight": False, "neighbour_sample": 30, "activation": "exp"},
        *({"gate": Gate.model_validate({"density": density})} for density in DENSITIES),
        *({"gate": Gate.model_validate({"threshold": threshold})} for threshold in THRESHOLDS),
    ],
    ids=str,
)
def test_every_choice_of_fidal_holds_the_contract(options: dict[str, object]) -> None:
    check_strategy(Fidal.model_validate(options))


def test_an_odd_pool_stands_for_every_edge_of_the_specification() -> None:
    pools = odd_pools()
    assert len(pools["no labelled outlier"].outliers.features) == 0
    assert len(pools["no labelled ID image"].labelled.labels) == 0
    assert len(pools["one labelled ID image"].labelled.labels) == 1
    assert pools["labelled images of one class"].labelled.labels.unique().tolist() == [0]
    assert pools["a single class"].global_logits.shape[1] == 1
    for name, field in (("constant features", "features"), ("constant coverage", "coverage")):
        assert len(getattr(pools[name], field).unique()) == 1
    same = pools["identical candidates"]
    assert len(same.ids) == 30 and len(torch.unique(same.features, dim=0)) == 1
    assert len(pools["a pool of one"].ids) == 1


class Sound(Strategy):
    """The least uncertain first; the strategies below break one clause of it each."""

    name = "sound"

    def pick(self, pool: Pool, budget: int, rng: np.random.Generator) -> Pick:
        score = self.score(pool)
        return Pick(top(score, budget), {"score": score})

    def score(self, pool: Pool) -> Tensor:
        return -entropy(pool.global_logits)


class Short(Sound):
    """One candidate too few where there are enough."""

    def pick(self, pool: Pool, budget: int, rng: np.random.Generator) -> Pick:
        return Pick(top(self.score(pool), max(1, budget - 1)))


class Twice(Sound):
    def pick(self, pool: Pool, budget: int, rng: np.random.Generator) -> Pick:
        return Pick(top(self.score(pool), 1).expand(budget))


class Stranger(Sound):
    def select(self, pool: Pool, budget: int, rng: np.random.Generator) -> Query:
        return Query(tuple(f"another-{i}" for i in range(min(budget, len(pool.ids)))))


class WrongLength(Sound):
    def pick(self, pool: Pool, budget: int, rng: np.random.Generator) -> Pick:
        rows = top(self.score(pool), budget)
        return Pick(rows, {"entropy": torch.zeros(len(pool.ids), 2)})


class Clock(Sound):
    """Draws from a generator of its own."""

    def pick(self, pool: Pool, budget: int, rng: np.random.Generator) -> Pick:
        own = np.random.default_rng(time.perf_counter_ns())
        return Pick(random_rows(len(pool.ids), budget, own, pool.features))


class GlobalState(Sound):
    """Draws from torch's generator, which others draw from as well."""

    def score(self, pool: Pool) -> Tensor:
        return torch.rand(len(pool.ids))


class NoisyScore(Sound):
    """Chooses soundly, and reports noise."""

    def pick(self, pool: Pool, budget: int, rng: np.random.Generator) -> Pick:
        noise = torch.rand(len(pool.ids))
        return Pick(top(self.score(pool), budget), {"noise": noise})


class FirstListed(Sound):
    """Takes the candidates as the site lists them."""

    def select(self, pool: Pool, budget: int, rng: np.random.Generator) -> Query:
        return Query(pool.ids[:budget])


class Unsorted(Sound):
    """Chooses soundly, but gives the scores in the order of the ids, not of the pool."""

    def select(self, pool: Pool, budget: int, rng: np.random.Generator) -> Query:
        order = np.argsort(pool.ids).copy()
        return Query(super().select(pool, budget, rng).ids, {"score": self.score(pool)[order]})


class ReadsIds(Sound):
    """A label could hide in the names."""

    def score(self, pool: Pool) -> Tensor:
        return torch.tensor([float(sum(map(ord, name)) % 7) for name in pool.ids])


class Writes(Sound):
    """Writing a second time changes nothing, so that only the first call can show it."""

    def score(self, pool: Pool) -> Tensor:
        pool.features.clamp_(max=1.0)
        return super().score(pool)


class WritesLabelled(Sound):
    def score(self, pool: Pool) -> Tensor:
        pool.labelled.features.clamp_(max=1.0)
        return super().score(pool)


class Rounding(Sound):
    """Ranks by digits that float32 does not have."""

    def score(self, pool: Pool) -> Tensor:
        return (pool.global_logits[:, 0] * 1e9) % 1


class NeedsOutliers(Sound):
    def score(self, pool: Pool) -> Tensor:
        return (pool.features[:, None] - pool.outliers.features).norm(dim=2).amin(1)


class ForgetsItself(Sound):
    """A parameter that a configuration cannot hold."""

    share: float = Field(default=0.1, exclude=True)


class Alias(Sound):
    """A configuration would build another strategy from what it writes."""

    def model_dump(self, **options: object) -> dict[str, object]:  # type: ignore[override]
        return {**super().model_dump(), "name": "random"}


BROKEN: list[tuple[Strategy, str]] = [
    (Short(), "chose 24 of 25"),
    (Twice(), "chose an id twice"),
    (Stranger(), "chose an id outside the pool"),
    (WrongLength(), "score 'entropy' is not one number per candidate"),
    (Clock(), "is not deterministic"),
    (GlobalState(), "is not deterministic"),
    (NoisyScore(), "is not deterministic in score 'noise'"),
    (FirstListed(), "depends on the order of the pool"),
    (Unsorted(), "gives score 'score' in another order than the pool's"),
    (ReadsIds(), "reads something out of the candidates' ids"),
    (Writes(), "modified the pool it was given"),
    (WritesLabelled(), "modified the pool it was given"),
    (Rounding(), "agrees with itself in float32 on"),
    (NeedsOutliers(), "fails on no labelled outlier"),
    (Alias(), "does not write its own name"),
    (ForgetsItself(share=0.2), "differs after a round through TOML"),
]


def test_what_they_break_is_whole() -> None:
    check_strategy(Sound())


@pytest.mark.parametrize(
    ("strategy", "words"), BROKEN, ids=[type(strategy).__name__ for strategy, _ in BROKEN]
)
def test_a_broken_strategy_is_told_which_clause_it_breaks(strategy: Strategy, words: str) -> None:
    with pytest.raises(ContractError) as error:
        check_strategy(strategy)
    assert str(error.value).startswith(f"'sound' {words}")


@pytest.mark.gpu
def test_a_strategy_that_chooses_otherwise_on_a_gpu_is_caught() -> None:
    class Partial(Sound):
        def score(self, pool: Pool) -> Tensor:
            return super().score(pool) * (-1 if pool.features.is_cuda else 1)

    with pytest.raises(ContractError, match="agrees between CPU and CUDA on"):
        check_strategy(Partial())


def test_a_strategy_that_spends_too_little_on_an_odd_pool_is_caught() -> None:
    class Shy(Sound):
        def pick(self, pool: Pool, budget: int, rng: np.random.Generator) -> Pick:
            return Pick(top(self.score(pool), budget if len(pool.labelled.labels) else 0))

    with pytest.raises(ContractError, match=r"chose 0 \(0 distinct\) of 1 on no labelled ID image"):
        check_strategy(Shy())


def test_an_exception_on_an_odd_pool_keeps_its_cause() -> None:
    with pytest.raises(ContractError) as error:
        check_strategy(NeedsOutliers())
    assert isinstance(error.value.__cause__, IndexError)
