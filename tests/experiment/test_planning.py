from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

import pytest
import torch

from fidal.experiment.config import ConfigError, make_experiment
from fidal.experiment.planning import fresh_weights, make_plan
from fidal.federation.messages import Failure, Reply, Request, StatusReply
from fidal.federation.state import Patience
from tests.small import table


@dataclass
class Sites:
    images: dict[str, int]
    heard: list[str] = field(default_factory=list)
    sites: tuple[str, ...] = ("east", "west")

    def broadcast(
        self, requests: Mapping[str, Request], deadline: float | None = None
    ) -> dict[str, Reply]:
        self.heard += requests
        return {
            site: StatusReply(site, 0, self.images[site], 0, 0, 0, 0, 0, 0)
            if site in self.images
            else Failure(site, "no answer", "absent")
            for site in requests
        }


def experiment(**fields: object):  # type: ignore[no-untyped-def]
    return make_experiment(table(Path("m.csv"), **fields))


def test_a_share_is_taken_of_what_each_site_says_it_has() -> None:
    engine = Sites({"east": 200, "west": 50})
    plan = make_plan(experiment(budget=0.1), engine)
    assert plan.budgets == {"east": 20, "west": 5}
    assert (plan.rounds, plan.steps, plan.reinitialise) == (2, 2, True)


def test_a_number_needs_no_answer() -> None:
    engine = Sites({})
    patience = Patience(quorum=1)
    assert make_plan(experiment(budget=7), engine, patience).budgets == {"east": 7, "west": 7}
    assert make_plan(experiment(budget=7), engine, patience).patience is patience
    assert engine.heard == []
    plan = make_plan(experiment(budget={"east": 3, "west": 0.5}), Sites({"west": 10}))
    assert plan.budgets == {"east": 3, "west": 5}


def test_a_share_of_nobody_knows_what_is_refused() -> None:
    with pytest.raises(ConfigError, match="and west did not say how many there are"):
        make_plan(experiment(budget=0.1), Sites({"east": 200}))


def test_fresh_weights_are_the_rounds_own() -> None:
    fresh = fresh_weights(experiment(), (16, 16, 3), 3)
    assert torch.equal(fresh(1).flat, fresh(1).flat)
    assert not torch.equal(fresh(0).flat, fresh(1).flat)
