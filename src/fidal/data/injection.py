"""How a pool gets its share of outliers while classes and sites keep their proportions."""

import hashlib
from collections.abc import Iterable, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray


def counts_for_shares(
    n_id: Sequence[int], n_ood: int, shares: Sequence[float]
) -> tuple[list[int], list[int]]:
    """How many ID and OOD images give each site its share of OOD, below 1: all of one kind, a part
    of the other. In: the sites' ID images, all OOD images, the shares. Out: both kinds by site.

    Where the OOD images are too few for all ID images, all of them are used and every site's ID
    images are cut by the same factor; else all ID images are used and only a part of the OOD
    images. In whole images; the totals are rounded to the nearest.
    """
    odds = [share / (1 - share) for share in shares]
    wanted = sum(n * ratio for n, ratio in zip(n_id, odds, strict=True))
    kept = round(sum(n_id) * n_ood / wanted) if wanted > n_ood else sum(n_id)
    # Whole numbers, so that equal shares give exactly the proportions of the ID images.
    needs = [n * round(ratio * 2**40) for n, ratio in zip(n_id, odds, strict=True)]
    return apportion(kept, n_id), apportion(min(n_ood, round(wanted)), needs)


def apportion(total: int, weights: Sequence[int]) -> list[int]:
    """`total` whole things in proportion to `weights`, by the largest remainder.

    Every part is its exact proportion rounded up or down, so it is off by less than one; where
    total <= sum(weights), no part exceeds its weight. Ties go to the earlier part.
    """
    whole = max(1, sum(weights))
    parts = [total * weight // whole for weight in weights]
    remainders = [total * weight % whole for weight in weights]
    largest = sorted(range(len(weights)), key=lambda i: -remainders[i])
    for i in largest[: total - sum(parts) if sum(weights) else 0]:
        parts[i] += 1
    return parts


def deal(n: int, quotas: Mapping[str, int]) -> list[str]:
    """Whose each of the first of n things is: by `quotas`, or in proportion if n is too few."""
    hands = apportion(min(n, sum(quotas.values())), list(quotas.values()))
    return [name for name, hand in zip(quotas, hands, strict=True) for _ in range(hand)]


def cut(
    rows: NDArray[np.int64],
    total: int,
    strata: Sequence[NDArray[np.generic]],
    names: Sequence[str],
    seed: int,
) -> NDArray[np.int64]:
    """`total` of `rows`, at random within strata, each stratum in its proportion.

    `strata` are columns (site, then class) over all images; the first is apportioned exactly, then
    the next inside it. A smaller total with the same seed takes from the same queue of each
    stratum, so that subsets of different sizes nest as far as rounding allows.
    """
    if not strata:
        return rows[random_order([names[row] for row in rows], seed)[:total]]
    values = strata[0][rows]
    parts = [rows[values == value] for value in np.unique(values)]
    quotas = apportion(total, [len(part) for part in parts])
    cuts = [
        cut(part, quota, strata[1:], names, seed) for part, quota in zip(parts, quotas, strict=True)
    ]
    return np.concatenate([rows[:0], *cuts])


def random_order(names: Iterable[str], seed: int) -> list[int]:
    """Positions in an order that depends on names and seed alone, not on NumPy's version.

    Equal names (the patients of several images) stay together, in the order given.
    """
    keys = [hashlib.blake2b(f"{seed}\0{name}".encode()).digest() for name in names]
    return sorted(range(len(keys)), key=keys.__getitem__)
