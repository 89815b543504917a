import numpy as np
import pytest

from fidal.site.oracle import GroundTruth, Oracle
from fidal.types import OUTLIER, UNLABELLED

CLASSES = 4
LABELS = {f"img-{i:05d}": i % (CLASSES + 2) - 1 for i in range(6000)}
LABELS = {sample: label if label < CLASSES else OUTLIER for sample, label in LABELS.items()}
IDS = list(LABELS)


def wrong(oracle: GroundTruth) -> set[str]:
    return {sample for sample, said in oracle.answers(IDS).items() if said != LABELS[sample]}


def test_the_truth_in_the_order_asked() -> None:
    oracle: Oracle = GroundTruth(LABELS, CLASSES)
    asked = IDS[5:0:-1]
    assert list(oracle.answers(asked).items()) == [(sample, LABELS[sample]) for sample in asked]


def test_a_fifth_is_wrong_and_only_about_belonging() -> None:
    oracle = GroundTruth(LABELS, CLASSES, error_rate=0.2)
    said = oracle.answers(IDS)
    for outlier in (True, False):
        group = [s for s in IDS if (LABELS[s] == OUTLIER) == outlier]
        errors = [s for s in group if said[s] != LABELS[s]]
        share = len(errors) / len(group)
        assert abs(share - 0.2) < 4 * np.sqrt(0.2 * 0.8 / len(group))
        assert all((said[s] == OUTLIER) != outlier for s in errors)


def test_a_wrong_class_is_any_of_the_classes() -> None:
    said = GroundTruth(LABELS, CLASSES, error_rate=1.0).answers(IDS)
    classes = [said[s] for s in IDS if LABELS[s] == OUTLIER]
    shares = np.bincount(classes, minlength=CLASSES) / len(classes)
    assert len(shares) == CLASSES
    assert np.abs(shares - 1 / CLASSES).max() < 0.05
    assert all(said[s] == OUTLIER for s in IDS if LABELS[s] != OUTLIER)


def test_an_error_belongs_to_seed_and_sample_not_to_the_order() -> None:
    oracle = GroundTruth(LABELS, CLASSES, error_rate=0.5, seed=3)
    together = oracle.answers(IDS)
    backwards = GroundTruth(LABELS, CLASSES, error_rate=0.5, seed=3).answers(IDS[::-1])
    assert together == backwards == {s: oracle.answers([s])[s] for s in IDS}


def test_other_seeds_err_elsewhere_and_more_errors_keep_the_old_ones() -> None:
    few, more = (GroundTruth(LABELS, CLASSES, error_rate=rate) for rate in (0.1, 0.3))
    assert wrong(few) < wrong(more)
    other = wrong(GroundTruth(LABELS, CLASSES, error_rate=0.3, seed=1))
    assert len(wrong(more) & other) / len(other) == pytest.approx(0.3, abs=0.05)


@pytest.mark.parametrize("rate", [-0.1, 1.1, float("nan")])
def test_a_share_is_a_share(rate: float) -> None:
    with pytest.raises(ValueError, match="error_rate"):
        GroundTruth(LABELS, CLASSES, error_rate=rate)


def test_what_nobody_labelled_needs_a_person() -> None:
    oracle = GroundTruth({"a": UNLABELLED}, CLASSES)
    for sample in ("a", "never-seen"):
        with pytest.raises(ValueError, match=f"'{sample}' has no known label"):
            oracle.answers([sample])


def test_its_text_does_not_tell_the_labels() -> None:
    assert "img" not in repr(GroundTruth(LABELS, CLASSES))
