import numpy as np

from fidal.checks.pools import make_pool
from fidal.strategies.random import Random


def test_every_candidate_is_chosen_equally_often() -> None:
    pool, rng = make_pool(n=20).pool, np.random.default_rng(0)
    counts = dict.fromkeys(pool.ids, 0)
    for _ in range(2000):
        for sample in Random().select(pool, 5, rng).ids:
            counts[sample] += 1
    # Binomial(2000, 1/4): mean 500, standard deviation 19.
    assert 400 < min(counts.values()) <= max(counts.values()) < 600


def test_the_generator_alone_decides() -> None:
    pool = make_pool().pool
    one, other = (Random().select(pool, 30, np.random.default_rng(seed)).ids for seed in (0, 1))
    assert one == Random().select(pool, 30, np.random.default_rng(0)).ids
    assert one != other
