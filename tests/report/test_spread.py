import math

import numpy as np

from fidal.report.spread import Spread

NAN = float("nan")


def test_mean_and_sample_deviation_of_the_seeds_that_are_there() -> None:
    spread = Spread.over(np.array([0.1, NAN, 0.3]))
    assert math.isclose(spread.mean, 0.2)
    assert math.isclose(spread.std, math.sqrt(0.02))
    assert (spread.seeds, spread.of) == (2, 3)


def test_one_seed_has_no_deviation_and_none_has_no_mean() -> None:
    assert math.isnan(Spread.over(np.array([0.5])).std)
    assert math.isnan(Spread.over(np.array([NAN, NAN])).mean)


def test_text_shows_missing_seeds() -> None:
    assert Spread.over(np.array([0.1, 0.3])).text(1, 100) == "20.0 ± 14.1"
    assert Spread.over(np.array([0.1, NAN])).text(1, 100) == "10.0 [1/2]"
    assert Spread.over(np.array([NAN])).text() == "–"
    assert Spread.over(np.array([1200.0])).text(0) == "1,200"
