"""What a gate must reach on made-up clinics: 38 % far outliers, and none at all.

Losses are means over seeds: 150 labelled images place a cut within a percent or two.
"""

from statistics import mean

import pytest

from fidal.gates import DENSITIES, Gate
from fidal.gates.thresholds.guarded_otsu import GuardedOtsu
from fidal.gates.thresholds.known_null import KnownNull
from fidal.gates.thresholds.otsu import Otsu
from tests.gates.clinic import clinic

SEEDS = range(20)
N_LABELLED = 150


@pytest.mark.parametrize("density", DENSITIES)
def test_otsus_loss_on_a_clean_pool_is_reported_and_flagged(density: str) -> None:
    for seed in SEEDS[:5]:
        c = clinic(seed, 0.0, n_labelled=N_LABELLED)
        decision = c.decide(Gate.model_validate({"density": density, "threshold": Otsu()}))
        d, lost = decision.diagnosis, c.lost(decision)
        assert lost > 0.2
        assert d.id_loss == pytest.approx(lost, abs=0.2)
        assert any(flag.startswith("otsu split a pool that") for flag in d.flags)
        assert d.ood_share is not None and d.ood_share < 0.35


@pytest.mark.parametrize("density", DENSITIES)
@pytest.mark.parametrize("threshold", [KnownNull(), GuardedOtsu()], ids=lambda t: t.name)
def test_a_calibrated_threshold_loses_nothing_of_a_clean_pool(
    density: str, threshold: KnownNull | GuardedOtsu
) -> None:
    gate = Gate.model_validate({"density": density, "threshold": threshold})
    lost = [
        c.lost(c.decide(gate)) for c in (clinic(seed, 0.0, n_labelled=N_LABELLED) for seed in SEEDS)
    ]
    assert mean(lost) <= 0.02


@pytest.mark.parametrize("density", DENSITIES)
def test_known_null_catches_far_outliers_at_hardly_any_loss(density: str) -> None:
    gate = Gate.model_validate({"density": density, "threshold": KnownNull()})
    clinics = [clinic(seed, 0.38, n_labelled=N_LABELLED, distance=30) for seed in SEEDS]
    decisions = [c.decide(gate) for c in clinics]
    caught = [c.caught(d) for c, d in zip(clinics, decisions, strict=True)]
    lost = [c.lost(d) for c, d in zip(clinics, decisions, strict=True)]
    assert min(caught) >= 0.95
    assert mean(lost) <= 0.02
    assert mean(d.diagnosis.ood_share or 0 for d in decisions) == pytest.approx(0.38, abs=0.05)
    assert mean(d.diagnosis.recall or 0 for d in decisions) >= 0.95
    assert mean(d.diagnosis.auroc or 0 for d in decisions) >= 0.98
    assert not any("split" in flag for d in decisions for flag in d.diagnosis.flags)
