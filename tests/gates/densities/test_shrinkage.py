import numpy as np
import pytest
import torch
from sklearn.covariance import LedoitWolf

from fidal.gates.densities.shrinkage import ledoit_wolf, whitener


@pytest.mark.parametrize(("n", "width"), [(5, 12), (40, 12), (300, 6)])
def test_ledoit_wolf_is_that_of_scikit_learn(n: int, width: int) -> None:
    rng = np.random.default_rng(n)
    x = rng.normal(size=(n, width)) @ rng.normal(size=(width, width))
    x -= x.mean(0)
    want = LedoitWolf(assume_centered=True).fit(x).covariance_
    np.testing.assert_allclose(ledoit_wolf(torch.from_numpy(x)), want, rtol=1e-10, atol=1e-12)


def test_two_mirrored_images_have_an_invertible_covariance() -> None:
    # Both products x x' are the same, so there is nothing to shrink for, yet the rank is one.
    x = torch.tensor([[3.0, -1.0, 2.0]], dtype=torch.float64)
    covariance = ledoit_wolf(torch.cat([x, -x]))
    assert float(torch.linalg.eigvalsh(covariance)[0]) > 0
    assert torch.isfinite(whitener(covariance)).all()


def test_images_without_any_spread_have_an_invertible_covariance() -> None:
    W = whitener(ledoit_wolf(torch.zeros(4, 3, dtype=torch.float64)))
    assert torch.isfinite(W).all()


def test_the_whitener_gives_mahalanobis_distances() -> None:
    rng = np.random.default_rng(0)
    root, x = rng.normal(size=(5, 5)), rng.normal(size=5)
    covariance = root @ root.T
    white = torch.from_numpy(x) @ whitener(torch.from_numpy(covariance))
    assert float(white.square().sum()) == pytest.approx(x @ np.linalg.inv(covariance) @ x)
