import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fidal.data.injection import apportion, counts_for_shares, cut, deal, random_order


@pytest.mark.parametrize(
    ("share", "n_id", "n_ood"),
    [(0.0, 8012, 0), (0.05, 8012, 422), (0.15, 7809, 1378), (0.30, 3215, 1378), (0.6, 919, 1378)],
)
def test_counts_of_fedham_worked_by_hand(share: float, n_id: int, n_ood: int) -> None:
    ours, theirs = counts_for_shares([3163, 2691, 1807, 351], 1378, [share] * 4)
    assert (sum(ours), sum(theirs)) == (n_id, n_ood)
    assert ours == apportion(n_id, [3163, 2691, 1807, 351])
    assert theirs == apportion(n_ood, [3163, 2691, 1807, 351])


@given(st.integers(1, 5000), st.integers(1, 5000), st.floats(0, 0.95))
def test_counts_use_all_of_one_kind_and_reach_the_share(n: int, m: int, share: float) -> None:
    (n_id,), (n_ood,) = counts_for_shares([n], m, [share])
    assert 0 <= n_id <= n
    assert 0 <= n_ood <= m
    assert n_id == n or n_ood == m
    # Half an image is the most that rounding can move either count.
    assert abs(n_ood - share * (n_id + n_ood)) <= 0.5 + 1e-6


def test_each_site_has_its_own_share() -> None:
    # 100 : 100 : 100 and odds 0, 1/4, 4: 425 outliers wanted.
    assert counts_for_shares([100] * 3, 999, [0, 0.2, 0.8]) == ([100] * 3, [0, 25, 400])
    # There are 85, a fifth of it: so a fifth of the ID images, and a fifth of the outliers.
    assert counts_for_shares([100] * 3, 85, [0, 0.2, 0.8]) == ([20] * 3, [0, 5, 80])


def test_apportion_by_hand() -> None:
    # 1378 x 3163 / 8012 = 544.01, then 462.83, 310.79, 60.37: the two largest remainders go up.
    assert apportion(1378, [3163, 2691, 1807, 351]) == [544, 463, 311, 60]
    assert apportion(3, [1, 1]) == [2, 1]
    assert apportion(5, [0, 0]) == [0, 0]
    assert apportion(0, []) == []


@given(st.lists(st.integers(0, 300), min_size=1, max_size=12), st.floats(0, 1))
def test_apportion_is_whole_and_off_by_less_than_one(weights: list[int], part: float) -> None:
    total = round(part * sum(weights))
    parts = apportion(total, weights)
    assert sum(parts) == total
    for count, weight in zip(parts, weights, strict=True):
        assert 0 <= count <= weight
        assert abs(count * sum(weights) - total * weight) < max(1, sum(weights))


def test_cut_keeps_the_proportions_of_sites_and_of_classes_within() -> None:
    site = np.repeat([0, 0, 0, 1, 1], [60, 30, 10, 40, 60])
    label = np.repeat([0, 1, 2, 0, 1], [60, 30, 10, 40, 60])
    names = [f"img{i}" for i in range(200)]
    kept = cut(np.arange(200), 50, (site, label), names, seed=3)
    assert len(set(kept.tolist())) == 50
    cells = [
        int(((site[kept] == s) & (label[kept] == c)).sum())
        for s, c in ((0, 0), (0, 1), (0, 2), (1, 0), (1, 1))
    ]
    # 25 a site: 15, 7.5, 2.5 and 10, 15; of two equal remainders the earlier goes up.
    assert cells == [15, 8, 2, 10, 15]


def test_smaller_cuts_are_part_of_larger_ones_and_seeds_differ() -> None:
    strata = (np.repeat([0, 1], 50),)
    names = [f"img{i}" for i in range(100)]
    small, large = (set(cut(np.arange(100), n, strata, names, seed=0).tolist()) for n in (20, 60))
    other = set(cut(np.arange(100), 20, strata, names, seed=1).tolist())
    assert small < large
    assert small != other


def test_order_depends_on_names_not_on_their_place_and_keeps_equal_names_together() -> None:
    names = ["b", "a", "c", "b", "a", "d"]
    order = [names[i] for i in random_order(names, 5)]
    again = [sorted(names)[i] for i in random_order(sorted(names), 5)]
    assert order == again
    assert [n for i, n in enumerate(order) if i == 0 or order[i - 1] != n] == list(
        dict.fromkeys(order)
    )
    assert random_order(names, 5) != random_order(names, 6)


def test_the_order_is_the_same_on_every_machine_and_version() -> None:
    assert random_order([f"img{i}" for i in range(6)], 0) == [3, 5, 4, 0, 2, 1]


def test_things_are_dealt_by_quota_or_in_proportion() -> None:
    quotas = {"a": 6, "b": 0, "c": 3}
    assert deal(20, quotas) == ["a"] * 6 + ["c"] * 3
    assert deal(9, quotas) == ["a"] * 6 + ["c"] * 3
    assert deal(3, quotas) == ["a"] * 2 + ["c"]
    assert deal(0, quotas) == []
