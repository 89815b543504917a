import pytest

from fidal.pilot.scores import Score, Share, scores
from fidal.pilot.trials import Rates, SiteTrials, Trial
from tests.pilot.made import pool


def trials(*sites: tuple[Rates | None, Rates | None]) -> list[SiteTrials]:
    """Of one gate; each site's rates by the labels and by the truth."""
    own = pool(n=20)
    return [
        SiteTrials(own, {}, [Trial(f"site {i}", "diagonal", "otsu", 0.5, 0.1, known, truth, ())])
        for i, (known, truth) in enumerate(sites)
    ]


def test_labels_are_pooled_and_truth_is_the_mean_over_sites() -> None:
    small, large = Rates(10, 10, 10, 1, 1.0), Rates(90, 45, 190, 1, 0.8)
    found = trials((small, small), (large, large))
    (labels,), (truth,) = scores(found, "labels"), scores(found, "truth")
    assert labels.recall and truth.recall
    assert labels.recall.value == 55 / 100 and labels.id_loss.value == 2 / 200
    assert truth.recall.value == (1 + 0.5) / 2
    assert truth.id_loss.value == pytest.approx((1 / 10 + 1 / 190) / 2)
    assert labels.auroc == truth.auroc == 0.9


def test_the_bounds_are_those_of_clopper_and_pearson() -> None:
    """Worked by hand: 0 of n is below 1 - 0.025 ** (1 / n), n of n above 0.025 ** (1 / n)."""
    (score,) = scores(trials((Rates(12, 12, 30, 0, None), None)), "labels")
    assert score.recall and score.recall.high == 1 and score.id_loss.low == 0
    assert score.recall.low == pytest.approx(0.025 ** (1 / 12))
    assert score.id_loss.high == pytest.approx(1 - 0.025 ** (1 / 30))


def test_a_site_without_outliers_counts_for_the_loss_only() -> None:
    clean, other = Rates(0, 0, 100, 4, None), Rates(50, 40, 100, 0, 0.9)
    (truth,) = scores(trials((None, clean), (None, other)), "truth")
    assert truth.recall and truth.recall.value == 0.8
    assert truth.id_loss.value == 0.02


def test_where_the_basis_is_missing_there_is_no_score() -> None:
    found = trials((Rates(1, 1, 20, 0, 1.0), None))
    assert len(scores(found, "labels")) == 1 and scores(found, "truth") == []


def score(recall: float | None, loss: float, doubt: float = 0.0) -> Score:
    def share(value: float) -> Share:
        return Share(value, value - doubt, value + doubt)

    return Score("d", "t", None if recall is None else share(recall), share(loss), None)


@pytest.mark.parametrize(
    ("recall", "loss", "cost"),
    [(0.9, 0.02, 2.0), (1.0, 0.0, 0.0), (0.0, 0.0, 10.0), (None, 0.36, 18)],
)
def test_cost_is_missed_over_ten_percent_plus_lost_over_two(
    recall: float | None, loss: float, cost: float
) -> None:
    assert score(recall, loss).cost == pytest.approx(cost)


@pytest.mark.parametrize(
    ("recall", "loss", "doubt", "suffices", "certain"),
    [
        (0.90, 0.02, 0.0, True, True),
        (0.95, 0.01, 0.005, True, True),
        (0.95, 0.01, 0.02, True, False),
        (0.89, 0.0, 0.0, False, True),
        (0.99, 0.021, 0.0, False, True),
        (0.88, 0.0, 0.05, False, False),
        (0.50, 0.30, 0.1, False, True),
        (None, 0.0, 0.0, None, False),
    ],
)
def test_the_rule_and_whether_the_bounds_leave_it_open(
    recall: float | None, loss: float, doubt: float, suffices: bool | None, certain: bool
) -> None:
    found = score(recall, loss, doubt)
    assert (found.suffices, found.certain) == (suffices, certain)
