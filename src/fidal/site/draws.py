"""What a site draws at random from its pool: the warm-up, and whom a query looks at."""

import numpy as np
from numpy.typing import NDArray

from fidal.seeds import numpy_generator

Rows = NDArray[np.int64]


def warm_up(seed: int, site: str, unasked: Rows, budget: int) -> Rows:
    """The same random images under every strategy: the draw does not know which one runs."""
    rng = numpy_generator(seed, "warm-up", site)
    return unasked[rng.permutation(len(unasked))[:budget]]


def scored(seed: int, site: str, round: int, unasked: Rows, most: int) -> Rows:
    """The candidates of a query: all, or `most` of them at random, in their order."""
    if len(unasked) <= most:
        return unasked
    rng = numpy_generator(seed, "candidates", site, round)
    return np.sort(unasked[rng.permutation(len(unasked))[:most]])
