from collections import Counter

import numpy as np
import pytest
import torch
from torch import Tensor

from fidal.neighbours import seeding
from fidal.neighbours.seeding import Distances, d2_sampling, k_centre


def rng(seed: int = 0) -> np.random.Generator:
    return np.random.default_rng(seed)


def points(n: int, seed: int = 0) -> Tensor:
    generator = torch.Generator().manual_seed(seed)
    return torch.randn(n, 3, dtype=torch.float64, generator=generator)


def between(x: Tensor) -> Distances:
    return lambda rows: (x[rows, None] - x).square().sum(2)


def infinite(x: Tensor) -> Tensor:
    return torch.full((len(x),), torch.inf, dtype=x.dtype)


def naive_k_centre(x: Tensor, centres: list[list[float]], count: int) -> list[int]:
    chosen: list[int] = []
    for _ in range(count):
        free = [i for i in range(len(x)) if i not in chosen]
        taken = centres + [x[i].tolist() for i in chosen]
        away = {
            i: min(sum((a - b) ** 2 for a, b in zip(x[i].tolist(), c, strict=True)) for c in taken)
            for i in free
        }
        chosen.append(max(free, key=lambda i: (away[i], -i)))
    return chosen


@pytest.mark.parametrize("ahead", [1, 4, 32])
def test_k_centre_against_a_naive_loop(ahead: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(seeding, "AHEAD", ahead)
    x, centres = points(60), points(5, seed=1)
    nearest = (x[:, None] - centres).square().sum(2).amin(1)
    got = k_centre(nearest, between(x), 40)
    assert got.tolist() == naive_k_centre(x, centres.tolist(), 40)


def test_k_centre_on_a_line_by_hand() -> None:
    x = torch.tensor([[0.0], [1.0], [5.0], [6.0], [10.0]])
    nearest = (x[:, 0] - 0) ** 2  # one centre at 0
    # 10 is farthest; then 5 and 6 are 5 and 4 away, then 1 and 6 are both 1 away: the lower row
    assert k_centre(nearest, between(x), 4).tolist() == [4, 2, 1, 3]


def test_k_centre_without_centres_begins_with_the_first_row() -> None:
    x = torch.tensor([[0.0], [1.0], [5.0]])
    assert k_centre(infinite(x), between(x), 3).tolist() == [0, 2, 1]


def test_k_centre_takes_duplicates_last_and_each_once() -> None:
    x = torch.tensor([[0.0]] * 50 + [[1.0]])
    assert k_centre(infinite(x), between(x), 51).tolist() == [0, 50, *range(1, 50)]


def test_k_centre_leaves_its_input_alone() -> None:
    x = points(10)
    nearest = infinite(x)
    k_centre(nearest, between(x), 5)
    assert bool(nearest.isinf().all())


def test_d2_sampling_gives_distinct_rows_from_the_first() -> None:
    x = points(60)
    for count in (1, 2, 33, 60):
        rows = d2_sampling(7, between(x), count, rng()).tolist()
        assert rows[0] == 7
        assert len(rows) == len(set(rows)) == count


def test_d2_sampling_is_a_function_of_its_generator() -> None:
    x = points(200)
    first, again, other = (d2_sampling(0, between(x), 50, rng(s)).tolist() for s in (1, 1, 2))
    assert first == again
    assert first != other


@pytest.mark.parametrize("ahead", [1, 3, 32])
def test_d2_sampling_follows_the_law(ahead: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """The law of (second, third) seeds, worked out step by step, against 2,000 draws."""
    monkeypatch.setattr(seeding, "AHEAD", ahead)
    x = torch.tensor([[0.0], [1.0], [3.0], [3.5]], dtype=torch.float64)
    d = between(x)(torch.arange(4)).numpy()
    law: dict[tuple[int, int], float] = {}
    for i in (1, 2, 3):
        after = np.minimum(d[0], d[i])
        for j in {1, 2, 3} - {i}:
            law[i, j] = d[0][i] / d[0].sum() * after[j] / after.sum()
    assert sum(law.values()) == pytest.approx(1)
    # More seeds are asked for than looked at: proposals are then drawn and rejected in earnest.
    generator, n = rng(5), 2000
    seen = Counter(tuple(d2_sampling(0, between(x), 4, generator).tolist()[1:3]) for _ in range(n))
    chi2 = sum((seen[pair] - n * p) ** 2 / (n * p) for pair, p in law.items())
    assert chi2 < 20.5  # 99.9 % quantile with 5 degrees of freedom


def test_d2_sampling_prefers_the_far() -> None:
    x = torch.cat([torch.zeros(500, 1), torch.full((1, 1), 1e4)]) + 1e-3 * points(501)[:, :1]
    assert d2_sampling(0, between(x), 2, rng()).tolist() == [0, 500]


def test_d2_sampling_is_uniform_where_nothing_is_left_to_tell_apart() -> None:
    x = torch.tensor([[0.0]] * 5 + [[1.0]])
    generator = rng(3)
    drawn = [d2_sampling(5, between(x), 3, generator).tolist() for _ in range(1500)]
    assert all(len(set(rows)) == 3 for rows in drawn)
    third = Counter(rows[2] for rows in drawn)  # the second is any of the five duplicates as well
    assert set(third) == {0, 1, 2, 3, 4}
    assert sum((seen - 300) ** 2 / 300 for seen in third.values()) < 18.5  # 99.9 %, 4 degrees


def test_a_draw_at_the_very_end_takes_the_last_row_that_has_weight() -> None:
    class Highest(np.random.Generator):
        def random(self, size: int) -> np.ndarray:  # type: ignore[override]
            return np.full(size, 1.0)

    weight = np.array([1.0, 2.0, 0.0, 0.0])
    assert seeding._draw(weight, 2, Highest(np.random.PCG64())) == [1, 1]


@pytest.mark.gpu
def test_seeds_are_the_same_on_a_gpu() -> None:
    x = points(3000).double()  # float64: the orders of the sums must not decide
    on_gpu = between(x.cuda())
    assert (
        d2_sampling(0, on_gpu, 100, rng()).tolist()
        == d2_sampling(0, between(x), 100, rng()).tolist()
    )
    far = torch.full((3000,), torch.inf, dtype=torch.float64)
    ours, theirs = k_centre(far.cuda(), on_gpu, 100), k_centre(far, between(x), 100)
    assert ours.tolist() == theirs.tolist()
