import numpy as np
import pytest
import torch
from scipy.stats import multivariate_normal
from sklearn.covariance import LedoitWolf

from fidal.gates.densities.likelihood_ratio import LikelihoodRatio
from tests.gates.clinic import clinic


def covariance(*groups: np.ndarray) -> np.ndarray:
    residuals = np.concatenate([z - z.mean(0) for z in groups])
    found: np.ndarray = LedoitWolf(assume_centered=True).fit(residuals).covariance_
    return found


@pytest.mark.parametrize("broadening", [0.0, 0.1, 1.0])
def test_the_ratio_against_two_normal_densities(broadening: float) -> None:
    c = clinic(5, 0.3, n=40, n_labelled=30, n_outliers=6, width=8)
    known, foreign, q = c.labelled.numpy(), c.outliers.numpy(), c.candidates.numpy()
    shared = covariance(known, foreign)
    sphere = np.eye(8) * np.trace(shared) / 8
    broad = (1 - broadening) * shared + broadening * sphere
    want = multivariate_normal(known.mean(0), shared).logpdf(q)
    want = want - multivariate_normal(foreign.mean(0), broad).logpdf(q)
    score = LikelihoodRatio(broadening=broadening).fit(c.labelled, c.labels, c.outliers)
    np.testing.assert_allclose(score(c.candidates), want, rtol=1e-9)


def test_without_outliers_it_is_the_density_of_the_id_images() -> None:
    c = clinic(6, 0.3, n=40, n_labelled=30, width=8)
    known = c.labelled.numpy()
    want = multivariate_normal(known.mean(0), covariance(known)).logpdf(c.candidates.numpy())
    score = LikelihoodRatio().fit(c.labelled, c.labels, c.outliers[:0])
    found = score(c.candidates).numpy()
    np.testing.assert_allclose(found - found[0], want - want[0], rtol=1e-9)


def test_an_unknown_kind_of_outlier_on_the_id_side_is_refused_by_the_broadening_alone() -> None:
    # Known outliers sit at +6 of coordinate 0. The new kind is off by 50 spreads in coordinate 1,
    # of which the known ones say nothing, and leans to the ID side.
    rng = torch.Generator().manual_seed(0)
    labelled = torch.randn(80, 4, generator=rng, dtype=torch.float64)
    outliers = torch.randn(10, 4, generator=rng, dtype=torch.float64)
    labelled[:, 1] *= 0.1
    outliers[:, 1] *= 0.1
    outliers[:, 0] += 6
    outliers[:, 1] += labelled[:, 1].mean() - outliers[:, 1].mean()
    both = torch.tensor([[-1.0, 5.0, 0, 0], [0.0, 0, 0, 0]])
    labels = torch.zeros(80, dtype=torch.int64)
    unknown, known = LikelihoodRatio(broadening=0).fit(labelled, labels, outliers)(both).tolist()
    assert unknown > known
    unknown, known = LikelihoodRatio().fit(labelled, labels, outliers)(both).tolist()
    assert unknown < known - 10
