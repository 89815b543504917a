from dataclasses import replace

import numpy as np
import pytest
import torch
from numpy.typing import NDArray

from fidal.checks.pools import make_pool
from fidal.strategies.lfosa import UNFIT, LfOSA, known_posterior
from fidal.types import Pool, Query

Array = NDArray[np.float64]


def rng(seed: int = 0) -> np.random.Generator:
    return np.random.default_rng(seed)


def detector(predicted: list[int], activation: list[float], classes: int = 2) -> Array:
    """Logits with a given argmax and maximum."""
    logits = np.full((len(predicted), classes + 1), -9.0)
    logits[np.arange(len(predicted)), predicted] = activation
    return logits


def with_detector(logits: Array) -> Pool:
    pool = make_pool(n=len(logits), classes=logits.shape[1] - 1).pool
    ids = tuple(f"{i:04d}" for i in range(len(logits)))
    return replace(pool, ids=ids, outputs={"detector": torch.from_numpy(logits)})


def chosen(query: Query) -> list[int]:
    return [int(i) for i in query.ids]


def naive_posterior(x: Array) -> Array:
    """Expectation-maximisation of two normals on a line, started at the two ends, by loops."""
    mean, variance, share = [x.min(), x.max()], [x.var(), x.var()], [0.5, 0.5]
    upper: list[float] = []
    for _ in range(200):
        upper = []
        for value in x:
            density = [
                share[k] * np.exp(-((value - mean[k]) ** 2) / 2 / variance[k]) / variance[k] ** 0.5
                for k in (0, 1)
            ]
            upper.append(density[1] / (density[0] + density[1]))
        for k, weights in ((0, 1 - np.array(upper)), (1, np.array(upper))):
            share[k] = weights.mean()
            mean[k] = float((weights * x).sum() / weights.sum())
            variance[k] = float((weights * (x - mean[k]) ** 2).sum() / weights.sum()) + 5e-4
    return np.array(upper)


def test_posterior_of_the_larger_mean_within_each_predicted_class() -> None:
    # Class 0 has its two modes at 1 and 3, class 1 at 6 and 9: only within a class do they compare.
    draw = rng(1)
    x0 = np.concatenate([draw.normal(1, 0.3, 40), draw.normal(3, 0.3, 60)])
    x1 = np.concatenate([draw.normal(6, 0.5, 50), draw.normal(9, 0.5, 30)])
    score = known_posterior(detector([0] * 100 + [1] * 80, [*x0, *x1]), rng())
    assert np.allclose(score[:100], naive_posterior(x0), atol=0.02)
    assert np.allclose(score[100:], naive_posterior(x1), atol=0.02)


def briefly(x: Array, iterations: int = 10, tolerance: float = 1e-2) -> Array:
    """LfOSA's few steps of expectation-maximisation, from the best split of the line in two."""
    s = np.sort(x)
    split = min(range(1, len(s)), key=lambda k: k * s[:k].var() + (len(s) - k) * s[k:].var())
    upper, before = (x >= s[split]).astype(float), -np.inf

    def densities() -> Array:
        found = []
        for w in (1 - upper, upper):
            mean = np.average(x, weights=w)
            variance = np.average((x - mean) ** 2, weights=w) + 5e-4
            density = np.exp(-((x - mean) ** 2) / 2 / variance) / np.sqrt(2 * np.pi * variance)
            found.append(w.mean() * density)
        return np.array(found)

    for _ in range(iterations + 1):
        both = densities()
        upper, now = both[1] / both.sum(0), float(np.log(both.sum(0)).mean())
        if abs(now - before) < tolerance:
            both = densities()
            return both[1] / both.sum(0)
        before = now
    return upper


def test_the_mixture_is_fitted_in_a_few_steps_and_not_to_the_end() -> None:
    draw = rng(0)  # one wide component and a narrow one on its flank: k-means starts far off
    x = np.concatenate([draw.normal(0, 1, 300), draw.normal(2, 0.3, 100)])
    score = known_posterior(detector([0] * 400, x.tolist()), rng())
    assert score == pytest.approx(briefly(x), abs=1e-6)
    for iterations in (1, 500):
        assert np.abs(score - briefly(x, iterations, tolerance=1e-9)).max() > 0.1


def test_unknown_scores_zero_and_a_lone_member_is_unfit() -> None:
    score = known_posterior(detector([0, 0, 0, 0, 1, 2, 2], [1, 1.1, 5, 5.1, 99, 50, 60]), rng())
    assert score[:4].round(3).tolist() == [0, 0, 1, 1]
    assert score[4:].tolist() == [UNFIT, 0, 0]


def test_the_most_active_are_queried_not_the_least_as_in_promptgates_port() -> None:
    draw = rng(2)
    low, high = draw.normal(2, 0.2, 30), draw.normal(6, 0.2, 30)
    pool = with_detector(detector([0] * 60, [*low, *high]))
    query = LfOSA().select(pool, 25, rng())
    assert set(chosen(query)) <= set(range(30, 60))
    assert query.diagnosis.filled == 0


def test_known_before_unknown_before_lone_members() -> None:
    known = [1.0, 4.0, 1.5, 4.5, 2.0, 5.0, 2.5, 5.5]
    pool = with_detector(detector([2] * 10 + [0] * 8 + [1], [20.0] * 10 + known + [9.0]))
    query = LfOSA().select(pool, 19, rng())
    assert set(chosen(query)[:4]) == {11, 13, 15, 17}
    assert set(chosen(query)[:8]) == set(range(10, 18))
    assert set(chosen(query)[8:18]) == set(range(10))
    assert chosen(query)[18] == 18
    assert query.diagnosis.filled == 11
    assert LfOSA().select(pool, 9, rng()).diagnosis.filled == 1


@pytest.mark.parametrize("predicted", [0, 2])
def test_a_collapsed_detector_chooses_at_random_but_repeatably(predicted: int) -> None:
    pool = with_detector(detector([predicted] * 100, [1.5] * 100))
    first, again = (LfOSA().select(pool, 50, rng(3)) for _ in range(2))
    other = LfOSA().select(pool, 50, rng(4))
    assert first.ids == again.ids
    assert set(first.ids) != set(other.ids)
    assert 10 < sum(i < 50 for i in chosen(first)) < 40  # not the first ones of the list


def test_the_choice_against_a_naive_reading() -> None:
    pool = make_pool(n=200, n_labelled=10, seed=5).pool
    query = LfOSA().select(pool, 60, rng(1))
    order = sorted(range(200), key=pool.ids.__getitem__)
    score = known_posterior(pool.outputs["detector"].double().numpy()[order], rng(1))
    by_id = dict(zip((pool.ids[i] for i in order), score, strict=True))
    worst = min(by_id[i] for i in query.ids)
    assert all(by_id[i] <= worst for i in pool.ids if i not in query.ids)
    assert [by_id[i] for i in query.ids] == sorted((by_id[i] for i in query.ids), reverse=True)


def test_outputs_of_its_detector_are_asked_for_by_name() -> None:
    with pytest.raises(ValueError, match="'detector'"):
        LfOSA().select(replace(make_pool().pool, outputs={}), 5, rng())
