import numpy as np
import pytest
import torch
from scipy.stats import beta

from fidal.gates.thresholds.known_null import KnownNull, id_share


def cut(pool: list[float] | np.ndarray, null: list[float] | np.ndarray, **options: float) -> float:
    """The cut; -1 where it refuses nothing."""
    found = KnownNull(**options).cut(*(torch.from_numpy(np.array(x)) for x in (pool, null)))
    return -1.0 if found is None else found


NULL = [0.5, 0.55, 0.6, 0.65, 0.7, 0.75, 0.8, 0.85, 0.9]
BETWEEN = [x + 0.025 for x in NULL]


def test_id_share_by_hand() -> None:
    # p = (1 + known images at or below) / 10: 0.1 for the ten outliers, 0.2, 0.3 ... 1 for the
    # others. Above 1/2 are 5 of 19; were all ID, half would be. pi0 = (5 / 19) / (1 / 2).
    pool = np.sort([0.1] * 10 + BETWEEN)
    assert id_share(pool, np.array(NULL)) == pytest.approx(10 / 19)
    assert id_share(np.array(BETWEEN), np.array(NULL)) == 1  # 10 / 9 is cut off


def test_the_first_strip_by_hand() -> None:
    # One image of ten is all that may be lost, so the one cut is 0.5. The strip below it holds at
    # most 1 - 0.1 ** (1 / 9) = 22.6 % of the ID images, with 90 % confidence. Ten outliers are
    # 52.6 % of 19, more than twice 22.6 % of pi0 = 10 / 19; two are 18.2 % of 11, less than twice
    # 22.6 % of pi0 = 10 / 11.
    assert beta.ppf(0.9, 1, 9) == pytest.approx(1 - 0.1 ** (1 / 9))
    assert cut([0.1] * 10 + BETWEEN, NULL) == 0.5
    assert cut([0.1] * 2 + BETWEEN, NULL) == -1


FORTIETHS = [i / 40 for i in range(1, 40)]
INSIDE = [x + 1 / 80 for x in FORTIETHS]


def test_it_climbs_over_a_strip_of_outliers_and_not_over_a_strip_of_id_images() -> None:
    far = [0.0] * 60
    assert cut(far + INSIDE, FORTIETHS) == 1 / 40
    # Sixty more between the second and the third image carry it there, not on to the fourth.
    assert cut(far + [0.06] * 60 + INSIDE, FORTIETHS) == 3 / 40


def test_a_higher_level_refuses_more() -> None:
    # Thirty between the first and the second image: 30 of 129, where at most ppf(0.9; 1, 39) =
    # 5.7 % of the ID images can be; pi0 is about 0.3, so they outnumber the ID images by 13.
    pool = [0.0] * 60 + [0.03] * 30 + INSIDE
    assert cut(pool, FORTIETHS) == 2 / 40
    assert cut(pool, FORTIETHS, level=1 / 20) == 1 / 40


def test_each_climb_is_judged_by_the_strips_that_it_crosses() -> None:
    # Between the first and the second image at most ppf(0.9; 1, 39) = 5.7 % of the ID images can
    # be, twice which is 4.5 of 39; one ID image is there already. Below the second image can be
    # ppf(0.9; 2, 38) = 9.5 %, or 7.4 of 39, but the cut climbs from the first.
    assert cut([0.0] * 60 + [0.03] * 3 + INSIDE, FORTIETHS) == 1 / 40
    assert cut([0.0] * 60 + [0.03] * 5 + INSIDE, FORTIETHS) == 2 / 40


@pytest.mark.parametrize(("max_id_loss", "highest"), [(0.025, 1), (0.05, 2), (0.1, 4), (0.3, 12)])
def test_the_expected_loss_is_bounded_even_where_all_is_foreign(
    max_id_loss: float, highest: int
) -> None:
    # Refusing G < i / 40 crosses i of the 40 strips, so it loses i / 40 in expectation.
    pool = np.linspace(0, 0.4, 5000)
    assert cut(pool, FORTIETHS, max_id_loss=max_id_loss) == highest / 40


def test_without_confidence_the_loss_is_spent_in_any_case() -> None:
    assert cut([0.01, *INSIDE], FORTIETHS, max_id_loss=0.1, confidence=0) == 4 / 40


def test_too_few_known_images_for_the_bound_refuse_nothing() -> None:
    assert cut([0.0] * 90 + BETWEEN, NULL, max_id_loss=0.09) == -1


def test_without_a_null_nothing_is_refused() -> None:
    assert KnownNull().cut(torch.tensor([0.0, 1.0]), None) is None


@pytest.mark.parametrize("n", [20, 60, 150])
def test_it_abstains_on_clean_pools(n: int) -> None:
    rng = np.random.default_rng(n)
    cuts = [cut(rng.random(500), rng.random(n)) for _ in range(200)]
    assert np.mean([c > -1 for c in cuts]) < 0.1  # 1 - confidence


@pytest.mark.parametrize("n", [60, 150])
def test_chance_does_not_carry_it_into_the_id_images_where_far_outliers_end(n: int) -> None:
    # The least that can be lost is what lies below the first known image, 1 / (n + 1). The cut of
    # largest gain, without a word on chance, loses twice as much and fails here.
    rng, lost = np.random.default_rng(n), []
    for _ in range(200):
        id_images = 1 + rng.random(600)
        found = cut(np.concatenate([rng.random(400) / 2, id_images]), 1 + rng.random(n))
        assert found >= 1
        lost.append((id_images < found).mean())
    assert np.mean(lost) < 1.4 / (n + 1)


def test_tied_scores_of_known_images_do_no_harm() -> None:
    assert cut([0.0] * 30 + [0.5] * 30, [0.5] * 30) == 0.5
    assert cut([0.5] * 30, [0.5] * 30) == -1


def test_few_known_images_are_cautioned_about() -> None:
    # 35: 1 - 0.1 ** (1 / 35) = 6.4 %; twice that against the rest is 0.127 / 1.127 = 11 %.
    (words,) = KnownNull().caution(35)
    assert "(35)" in words and "about 11%" in words
    assert KnownNull().caution(150) == ()
