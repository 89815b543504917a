import tomllib

import pytest

from fidal.experiment.config import make_experiment
from fidal.pilot.recommendation import recommend
from fidal.pilot.scores import scores
from fidal.pilot.trials import try_gates
from tests.pilot.made import pool


def test_the_gate_of_least_cost_is_recommended() -> None:
    sites = [try_gates(pool(site, seed, n=400)) for seed, site in enumerate(("east", "west"))]
    for basis in ("labels", "truth"):
        found = recommend(sites, basis)  # type: ignore[arg-type]
        assert found is not None
        assert found.score.cost == min(score.cost for score in scores(sites, basis))  # type: ignore[arg-type]
        assert found.score.suffices and found.lambda_ood == (0.0, 1.0)
        assert "meets the rule (90% caught at 2% lost or better)" in found.reason


def test_where_no_gate_suffices_the_penalty_must_carry_the_purity() -> None:
    """Outliers one standard deviation away: nothing separates them."""
    found = recommend([try_gates(pool(n=400, distance=1))], "truth")
    assert found is not None and found.lambda_ood == (2.0, 5.0)
    assert "does not meet the rule" in found.reason
    assert tomllib.loads(found.toml)["strategy"]["lambda_ood"] == 2


def test_on_a_clean_pool_a_gate_that_refuses_nobody_is_best_and_fidal_s_own_wins_the_tie() -> None:
    found = recommend([try_gates(pool(ood_share=0, n=400, n_outliers=0))], "labels")
    assert found is not None
    assert (found.score.density, found.score.threshold) == ("likelihood-ratio", "guarded-otsu")
    assert found.score.id_loss.value == 0 and found.score.recall is None
    assert "no effect until one is labelled" in found.reason


def test_few_labels_are_said_to_be_few() -> None:
    found = recommend([try_gates(pool(n=200, n_labelled=20, n_outliers=5))], "labels")
    assert found is not None and not found.score.certain
    assert "so few labelled images can't tell: caught may be 48% to 100%" in found.reason


def test_without_a_basis_there_is_no_recommendation() -> None:
    assert recommend([try_gates(pool(n=50, n_labelled=5))], "labels") is None
    assert recommend([try_gates(pool(n=50, known=False))], "truth") is None


@pytest.mark.parametrize("distance", [1, 20])
def test_what_is_recommended_is_a_configuration(distance: int) -> None:
    found = recommend([try_gates(pool(n=200, distance=distance))], "labels")
    assert found is not None
    table = {"name": "x", "benchmark": "phantom", **tomllib.loads(found.toml)}
    strategy = make_experiment(table).strategy.model_dump()
    assert strategy["gate"]["density"]["name"] == found.score.density
    assert strategy["gate"]["threshold"]["name"] == found.score.threshold
    low, high = found.lambda_ood
    assert low <= strategy["lambda_ood"] <= high
