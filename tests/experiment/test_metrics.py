import math

import pytest

from fidal.experiment.metrics import accuracy, balanced_accuracy, pooled, purity, recalls

# Three classes, the last without test images: recall 3/4, 1/2 and none; accuracy 4 of 6.
COUNTS = [[3, 1, 0], [1, 1, 0], [0, 0, 0]]


def test_recall_per_class_is_nan_for_an_absent_class() -> None:
    each = recalls(COUNTS)
    assert each[:2].tolist() == [0.75, 0.5]
    assert math.isnan(each[2])


def test_balanced_accuracy_leaves_absent_classes_out() -> None:
    assert balanced_accuracy(COUNTS) == pytest.approx(0.625)


def test_accuracy_counts_images() -> None:
    assert accuracy(COUNTS) == pytest.approx(4 / 6)


def test_pooling_adds_counts_and_is_not_the_mean_of_sites() -> None:
    other = [[0, 8, 0], [0, 1, 0], [0, 0, 1]]
    together = pooled([COUNTS, other])
    assert together == [[3, 9, 0], [1, 2, 0], [0, 0, 1]]
    # Pooled: (3/12 + 2/3 + 1) / 3; mean of sites: (0.625 + (0 + 1 + 1) / 3) / 2.
    assert balanced_accuracy(together) == pytest.approx((0.25 + 2 / 3 + 1) / 3)


def test_nothing_to_count_is_nan() -> None:
    assert math.isnan(balanced_accuracy([[0]]))
    assert math.isnan(accuracy([[0]]))
    assert math.isnan(purity(0, 0))


def test_purity_is_the_id_share_of_all_that_was_looked_at() -> None:
    assert purity(30, 10) == 0.75
