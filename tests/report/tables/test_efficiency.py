from fidal.report.frame import Study
from fidal.report.tables.efficiency import efficiency, gain_per_hour


def test_gain_per_hour_by_hand(study: Study) -> None:
    score = study.values("badge", "bma_pooled")
    # Five queries of 50 images at four sites, 36 s each: 10 hours.
    expected = (score[:, 5] - score[:, 0]) / 10
    assert abs(gain_per_hour(study, "badge", 36).mean - expected.mean()) < 1e-12


def test_a_missing_last_round_is_no_gain(patchy: Study) -> None:
    assert gain_per_hour(patchy, "badge", 59).seeds == 2
    cells = efficiency(patchy).cells()
    assert "[2/3]" in cells[2][1].text and "[2/3]" in cells[2][2].text
