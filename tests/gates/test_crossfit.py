import warnings
from collections import Counter

import pytest
import torch
from torch import Tensor

from fidal.gates.crossfit import cross_fit, folds
from fidal.gates.densities.diagonal import DiagonalGaussian
from fidal.gates.densities.likelihood_ratio import LikelihoodRatio
from tests.gates.clinic import clinic


def test_each_fold_has_its_share_of_each_class() -> None:
    labels = torch.tensor([0, 1, 0, 0, 1, 2, 0, 0, 1, 0, 1, 2, 1, 0, 0, 0, 0])
    fold = folds(labels).tolist()
    assert Counter(fold) == {0: 4, 1: 4, 2: 3, 3: 3, 4: 3}
    for c, least in ((0, 2), (1, 1)):
        members = Counter(f for f, label in zip(fold, labels.tolist(), strict=True) if label == c)
        assert set(members) == set(range(5)) and max(members.values()) <= least + 1
    assert folds(labels).tolist() == fold


def naive(z: Tensor, labels: Tensor, anchors: Tensor, target: Tensor) -> list[float]:
    """Each image under the moments of the other folds, put on the scale of the anchors by hand."""
    fold, found = folds(labels).tolist(), []
    for i, k in enumerate(fold):
        score = DiagonalGaussian().fit(z[[f != k for f in fold]], labels, z[:0])
        raw, own = score(anchors).tolist(), float(score(z[i : i + 1]))
        mean, wanted = sum(raw) / len(raw), target.tolist()
        spread = (sum((x - mean) ** 2 for x in raw) / len(raw)) ** 0.5
        want = sum(wanted) / len(wanted)
        wide = (sum((x - want) ** 2 for x in wanted) / len(wanted)) ** 0.5
        found.append((own - mean) / spread * wide + want)
    return found


def test_each_image_is_scored_by_a_density_that_has_not_seen_it() -> None:
    c = clinic(0, 0.3, n=30, n_labelled=17, width=6)
    target = DiagonalGaussian().fit(c.labelled, c.labels, c.outliers)(c.candidates)
    null, foreign = cross_fit(
        DiagonalGaussian(), c.labelled, c.labels, c.outliers, c.candidates, target
    )
    assert null.tolist() == pytest.approx(naive(c.labelled, c.labels, c.candidates, target))
    assert len(foreign) == len(c.outliers)


def test_an_image_that_is_overfitted_scores_lower_when_held_out() -> None:
    # As many dimensions as images: the density knows its own images by heart.
    c = clinic(1, 0.0, n=400, n_labelled=30, width=40)
    score = LikelihoodRatio().fit(c.labelled, c.labels, c.outliers)
    null, foreign = cross_fit(
        LikelihoodRatio(), c.labelled, c.labels, c.outliers, c.candidates, score(c.candidates)
    )
    assert float(null.mean()) < float(score(c.labelled).mean())
    assert float(foreign.mean()) > float(score(c.outliers).mean())
    # Held out they stand among the candidates, which are ID, like any other of them.
    rank = (score(c.candidates) < null[:, None]).double().mean()
    assert 0.4 < float(rank) < 0.6


def test_a_single_outlier_stays_in_every_fit_and_gets_no_score() -> None:
    c = clinic(2, 0.3, n=40, n_labelled=20, n_outliers=1, width=6)
    score = LikelihoodRatio().fit(c.labelled, c.labels, c.outliers)
    null, foreign = cross_fit(
        LikelihoodRatio(), c.labelled, c.labels, c.outliers, c.candidates, score(c.candidates)
    )
    assert len(foreign) == 0 and len(null) == 20
    # A density without the outlier would give other scores.
    alone, _ = cross_fit(
        LikelihoodRatio(), c.labelled, c.labels, c.outliers[:0], c.candidates, score(c.candidates)
    )
    assert not torch.allclose(null, alone)


@pytest.mark.parametrize("anchors", [1, 5])
def test_anchors_without_spread_only_move_the_scores(anchors: int) -> None:
    c = clinic(3, 0.0, n=10, n_labelled=20, width=6)
    same = c.candidates[:1].expand(anchors, -1)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        null, _ = cross_fit(
            DiagonalGaussian(), c.labelled, c.labels, c.outliers, same, torch.zeros(anchors)
        )
    assert torch.isfinite(null).all() and float(null.std()) > 0
