import numpy as np
import pytest
import torch
from sklearn.covariance import LedoitWolf

from fidal.gates.densities.class_mahalanobis import ClassMahalanobis
from fidal.gates.densities.diagonal import DiagonalGaussian
from tests.gates.clinic import Clinic, clinic


def naive(c: Clinic) -> list[float]:
    """By loops: class means with one more image at the grand mean, scikit-learn's covariance."""
    z, labels = c.labelled.numpy(), c.labels.tolist()
    grand = z.mean(0)
    means = {}
    for label in sorted(set(labels)):
        members = [x for x, at in zip(z, labels, strict=True) if at == label]
        means[label] = sum([*members, grand]) / (len(members) + 1)
    residuals = np.stack([x - means[at] for x, at in zip(z, labels, strict=True)])
    inverse = np.linalg.inv(LedoitWolf(assume_centered=True).fit(residuals).covariance_)
    return [
        max(-0.5 * (q - m) @ inverse @ (q - m) for m in means.values())
        for q in c.candidates.numpy()
    ]


@pytest.mark.parametrize("n_labelled", [9, 60])
def test_the_nearest_class_counts_against_loops(n_labelled: int) -> None:
    c = clinic(2, 0.3, n=40, n_labelled=n_labelled, width=8)
    score = ClassMahalanobis().fit(c.labelled, c.labels, c.outliers)
    assert score(c.candidates).tolist() == pytest.approx(naive(c), rel=1e-9)


def test_classes_need_not_be_numbered_from_zero() -> None:
    c = clinic(3, 0.3, n=20, n_labelled=40, width=8)
    plain = ClassMahalanobis().fit(c.labelled, c.labels, c.outliers)(c.candidates)
    other = ClassMahalanobis().fit(c.labelled, c.labels * 3 + 2, c.outliers)(c.candidates)
    torch.testing.assert_close(plain, other)


def test_it_sees_the_hole_between_two_classes_where_the_diagonal_sees_the_centre() -> None:
    rng = torch.Generator().manual_seed(0)
    labels = torch.arange(200) % 2
    labelled = torch.randn(200, 6, generator=rng, dtype=torch.float64)
    labelled[:, 0] += 20 * labels - 10
    hole, inside = torch.zeros(1, 6), torch.tensor([[10.0, 0, 0, 0, 0, 0]])
    both = torch.cat([hole, inside])
    at_hole, at_class = ClassMahalanobis().fit(labelled, labels, labelled[:0])(both).tolist()
    assert at_hole < at_class - 20
    at_hole, at_class = DiagonalGaussian().fit(labelled, labels, labelled[:0])(both).tolist()
    assert at_hole > at_class
