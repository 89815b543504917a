"""What a strategy is: an objective, and a choice among the candidates of a `Pool`."""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Annotated, ClassVar

import numpy as np
import torch
from pydantic import BeforeValidator, Field, SerializeAsAny
from torch import Tensor

from fidal.learning.objectives import OBJECTIVES
from fidal.learning.objectives.base import Objective
from fidal.learning.objectives.cross_entropy import CrossEntropy
from fidal.parts import Part, by_name
from fidal.strategies.admission import admit, sorted_by_id
from fidal.types import Diagnosis, Pool, Query


@dataclass(frozen=True, eq=False)
class Pick:
    """A choice by position in the pool. `Strategy.select` turns it into a `Query`."""

    rows: Tensor
    """Positions of the chosen candidates, best first, int64."""
    scores: Mapping[str, Tensor] = field(default_factory=dict)
    diagnosis: Diagnosis = field(default_factory=Diagnosis)


AnyObjective = Annotated[
    SerializeAsAny[Objective], BeforeValidator(by_name("objective", OBJECTIVES))
]


class Strategy(Part, ABC):
    """A query strategy: a pure function of a pool, a budget and a random generator.

    A subclass gives `name`, its parameters as fields, the optional pool fields it `needs`, and
    `pick`. If its network needs extra heads or another loss, it sets the default of `objective`.
    """

    needs: ClassVar[tuple[str, ...]] = ()
    """Optional fields of `Pool` without which `pick` cannot work, e.g. ("coverage",)."""

    objective: AnyObjective = Field(
        default=CrossEntropy(), description="extra heads of the network and the training loss"
    )

    def required(self) -> tuple[str, ...]:
        """The optional fields of `Pool` that these very parameters need."""
        return self.needs

    def select(self, pool: Pool, budget: int, rng: np.random.Generator) -> Query:
        """Choose exactly min(budget, |U|) candidates.

        Candidates are handed to `pick` in the order of their ids, so that neither the choice nor
        the use of `rng` depends on the order in which a site happens to list its images.
        """
        admit(pool, budget, self.name, self.required(), self.objective.outputs)
        order, ordered = sorted_by_id(pool)
        budget = min(budget, len(pool.ids))
        if budget == 0:
            return Query(ids=())
        with torch.no_grad():
            pick = self.pick(ordered, budget, rng)
        back = torch.from_numpy(np.argsort(order))
        return Query(
            ids=tuple(ordered.ids[row] for row in pick.rows.tolist()),
            scores={k: v[back.to(v.device)] for k, v in pick.scores.items()},
            diagnosis=pick.diagnosis,
        )

    @abstractmethod
    def pick(self, pool: Pool, budget: int, rng: np.random.Generator) -> Pick:
        """Exactly `budget` distinct rows; 1 <= budget <= |U|, candidates are sorted by id."""


def top(scores: Tensor, budget: int) -> Tensor:
    """Rows of the `budget` largest scores, largest first; ties in the order of the rows."""
    return torch.sort(scores, descending=True, stable=True).indices[:budget]


def random_rows(n: int, budget: int, rng: np.random.Generator, like: Tensor) -> Tensor:
    """`budget` distinct rows of n, uniformly; on the device of `like`."""
    return torch.from_numpy(rng.permutation(n)[:budget]).to(like.device)
