import numpy as np
import pytest
import torch

from fidal.gates import DENSITIES, THRESHOLDS, Gate
from fidal.pilot.trials import SiteTrials, Trial, try_gates
from tests.pilot.made import pool


def find(found: SiteTrials, density: str, threshold: str) -> Trial:
    (only,) = (t for t in found.trials if (t.density, t.threshold) == (density, threshold))
    return only


def test_every_density_meets_every_threshold_as_the_gate_itself_decides() -> None:
    """Against a loop over whole gates, each fitted anew."""
    site = pool(n=300)
    found = try_gates(site)
    assert len(found.trials) == len(DENSITIES) * len(THRESHOLDS)
    assert site.foreign is not None
    for density, threshold in ((d, t) for d in DENSITIES for t in THRESHOLDS):
        gate = Gate(density=DENSITIES[density](), threshold=THRESHOLDS[threshold]())
        decision = gate.decide(site.candidates, site.labelled, site.labels, site.outliers)
        trial, refused = find(found, density, threshold), ~decision.keep.numpy()
        assert trial.cut == decision.diagnosis.cut and trial.flags == decision.diagnosis.flags
        assert trial.refused == refused.mean()
        assert trial.truth is not None and trial.known is not None
        assert trial.truth.caught == int((refused & site.foreign).sum())
        assert trial.truth.lost == int((refused & ~site.foreign).sum())
        assert (trial.truth.outliers, trial.truth.inside) == (90, 210)
        assert trial.known.outliers == 20 and trial.known.inside == 100
        assert trial.known.caught == round(20 * (decision.diagnosis.recall or 0))


def test_without_truth_only_what_the_labels_say() -> None:
    found = try_gates(pool(known=False, n=200))
    assert all(trial.truth is None and trial.known is not None for trial in found.trials)


def test_a_cut_at_a_labelled_score_counts_that_image_as_lost() -> None:
    """Known-null puts its cut at one of the null's scores, from which on it keeps. Over many pools
    the share below the cut is then less than what is lost, and that of one more about right."""
    said, true, naive = [], [], []
    for seed in range(14):
        found = try_gates(pool(seed=seed, n=400, n_labelled=50, distance=8))
        trial = find(found, "diagonal", "known-null")
        assert trial.known is not None and trial.truth is not None
        null = found.signals["diagonal"].null
        assert null is not None
        if trial.cut > 0:
            assert trial.known.lost == int((null < trial.cut).sum()) + 1
            said.append(trial.known.lost / trial.known.inside)
            naive.append((trial.known.lost - 1) / trial.known.inside)
            true.append(trial.truth.lost / trial.truth.inside)
    assert len(said) > 8
    assert abs(np.mean(said) - np.mean(true)) < abs(np.mean(naive) - np.mean(true))


def test_a_pool_without_outliers_has_no_recall_and_no_auroc() -> None:
    found = try_gates(pool(ood_share=0.0, n=200, n_outliers=0))
    trial = find(found, "diagonal", "otsu")
    assert trial.truth is not None and trial.known is not None
    assert (trial.truth.outliers, trial.truth.auroc) == (0, None)
    assert (trial.known.outliers, trial.known.auroc) == (0, None)
    assert trial.truth.lost > 0, "Otsu splits a clean pool"


def test_too_few_labels_leave_the_gate_unjudged() -> None:
    found = try_gates(pool(n=200, n_labelled=8))
    assert all(trial.known is None and trial.truth is not None for trial in found.trials)


@pytest.mark.parametrize("labelled", [0, 1])
def test_with_nothing_to_go_by_no_gate_refuses_anybody(labelled: int) -> None:
    found = try_gates(pool(n=100, n_labelled=labelled))
    assert not found.signals and len(found.trials) == len(DENSITIES) * len(THRESHOLDS)
    for trial in found.trials:
        assert (trial.cut, trial.refused, trial.known) == (0.0, 0.0, None)
        assert trial.truth is not None
        assert (trial.truth.caught, trial.truth.lost, trial.truth.outliers) == (0, 0, 30)
        assert "off: fewer than two labelled ID images" in trial.flags


def test_half_precision_embeddings_are_judged_too() -> None:
    site = pool(n=100)
    site = type(site)(**{**vars(site), "candidates": site.candidates.to(torch.float32)})
    assert try_gates(site).trials[0].truth is not None
