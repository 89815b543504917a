from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from fidal.data.benchmark import Benchmark, PromptScores
from fidal.data.sites import SiteData, site_data
from fidal.experiment.before import FROM_DATA, check_labels, check_ledger, check_needs, check_sites
from fidal.experiment.config import ConfigError
from fidal.federation.messages import QueryReply
from fidal.site.ledger import Ledger
from fidal.storage import StateError
from fidal.strategies import STRATEGIES
from fidal.strategies.fidal import Fidal
from fidal.types import OUTLIER, UNLABELLED
from tests.site.clinic import make_benchmark


def bare() -> Benchmark:
    return replace(make_benchmark(), coverage=None)


def whole() -> Benchmark:
    benchmark = make_benchmark()
    logits = np.zeros((len(benchmark.inputs), 2), dtype=np.float32)
    return replace(benchmark, prompts=PromptScores(logits, (True, False)))


@pytest.mark.parametrize("name", STRATEGIES)
def test_a_strategy_is_refused_exactly_where_the_data_lack_what_it_looks_at(name: str) -> None:
    strategy = STRATEGIES[name]()
    check_needs(strategy, whole())
    if set(FROM_DATA) & set(strategy.required()):
        with pytest.raises(ConfigError):
            check_needs(strategy, bare())
    else:
        check_needs(strategy, bare())


def test_who_needs_prompts_is_told_so_and_what_to_do() -> None:
    with pytest.raises(ConfigError) as error:
        check_needs(STRATEGIES["openpath"](), make_benchmark())
    assert str(error.value) == (
        "strategy 'openpath' needs prompts, and benchmark 'toy' as configured has none; set "
        "benchmark.prompts, or choose another strategy"
    )


def test_who_needs_an_encoder_is_told_so_unless_the_gate_is_off() -> None:
    says = r"'fidal' needs coverage, .*set benchmark\.encoder or benchmark\.embeddings"
    with pytest.raises(ConfigError, match=says):
        check_needs(Fidal(), bare())
    check_needs(Fidal(gate=None), bare())


def test_who_discards_outliers_must_take_part() -> None:
    check_sites(("west", "east"), make_benchmark())
    with pytest.raises(ConfigError) as error:
        check_sites(("west", "eats"), make_benchmark())
    assert str(error.value) == "discarding: unknown site 'eats'; did you mean 'east'?"


def with_labels(**labels: int) -> SiteData:
    """The eastern clinic, the first image of a split relabelled."""
    data = site_data(make_benchmark(), "east")
    changed = data.labels.copy()
    for split, label in labels.items():
        changed[getattr(data, split)[:7]] = label
    return replace(data, labels=changed)


def test_training_images_that_no_expert_can_be_simulated_for_are_counted() -> None:
    with pytest.raises(ConfigError, match="site 'east': 7 of 60 training images have no label"):
        check_labels(with_labels(train=UNLABELLED))


def test_outliers_have_a_label_and_test_images_need_none() -> None:
    check_labels(with_labels(train=OUTLIER, test=UNLABELLED))


def queried(round: int) -> QueryReply:
    return QueryReply("east", round, 10, 2, 2, 2, 0, 2, 0, 0, None, None)


def test_a_ledger_must_know_the_round_that_the_run_has(tmp_path: Path) -> None:
    ledger = Ledger.open(tmp_path / "ledger.sqlite", federation="f", site="east")
    check_ledger(ledger, None)
    ledger.ask(0, ["a", "b"])
    ledger.ask(1, [])  # a site that has nothing left to ask has asked, too
    for round in (0, 1):
        check_ledger(ledger, queried(round))
    with pytest.raises(StateError, match=r"site 'east': ledger .*ledger\.sqlite has no round 2"):
        check_ledger(ledger, queried(2))
    ledger.close()
