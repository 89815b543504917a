import math

import pytest
import torch

from fidal.gates.densities.diagonal import DiagonalGaussian
from tests.gates.clinic import clinic


def naive(labelled: list[list[float]], q: list[float], floor: float) -> float:
    """Eq. 9-10 coordinate by coordinate, without the constant."""
    n, width = len(labelled), len(q)
    mu = [sum(z[c] for z in labelled) / n for c in range(width)]
    variance = [sum((z[c] - mu[c]) ** 2 for z in labelled) / (n - 1) for c in range(width)]
    lowest = max(floor * sum(variance) / width, 1e-12)
    variance = [max(v, lowest) for v in variance]
    return -0.5 * sum(
        (q[c] - mu[c]) ** 2 / variance[c] + math.log(variance[c]) for c in range(width)
    )


@pytest.mark.parametrize("floor", [0.0, 1e-3, 0.7])
def test_equations_9_and_10_against_loops(floor: float) -> None:
    c = clinic(0, 0.3, n=20, n_labelled=12, width=7)
    score = DiagonalGaussian(variance_floor=floor).fit(c.labelled, c.labels, c.outliers)
    want = [naive(c.labelled.tolist(), q, floor) for q in c.candidates.tolist()]
    assert score(c.candidates).tolist() == pytest.approx(want, rel=1e-12)


def test_float32_embeddings_are_scored_in_float64() -> None:
    c = clinic(1, 0.3, n=20, n_labelled=12, width=7)
    score = DiagonalGaussian().fit(c.labelled.float(), c.labels, c.outliers)
    found = score(c.candidates.float())
    want = [naive(c.labelled.float().tolist(), q, 1e-3) for q in c.candidates.float().tolist()]
    assert found.dtype == torch.float64
    assert found.tolist() == pytest.approx(want, rel=1e-12)


def test_the_floor_keeps_a_constant_coordinate_from_drowning_the_others() -> None:
    # Coordinate 1 never varies among the labelled. A candidate off by 0.05 there is not foreign,
    # one that is ten spreads away in coordinate 0 is; the printed formula has it the other way.
    labelled = torch.tensor([[-1.0, 0.0], [0.0, 0.0], [1.0, 0.0]])
    candidates = torch.tensor([[0.0, 0.05], [10.0, 0.0]])
    labels, none = torch.zeros(3, dtype=torch.int64), torch.zeros(0, 2)
    near, far = DiagonalGaussian().fit(labelled, labels, none)(candidates).tolist()
    assert near > far
    near, far = DiagonalGaussian(variance_floor=0).fit(labelled, labels, none)(candidates).tolist()
    assert near < far
