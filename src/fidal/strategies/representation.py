"""What the strategies that cover the pool compare images by."""

from torch import Tensor

from fidal.neighbours.similarity import unit
from fidal.types import Pool


def representation(pool: Pool) -> tuple[Tensor, Tensor]:
    """Unit rows of U and of L_ID: g(x) where the pool has it, else h(x).

    TypiClust and Herding were designed on self-supervised features, which are good before there
    are labels and stay the same over the rounds. That is the frozen encoder; h(x) stands in for it.
    """
    if pool.coverage is not None and pool.labelled.coverage is not None:
        return unit(pool.coverage), unit(pool.labelled.coverage)
    return unit(pool.features), unit(pool.labelled.features)
