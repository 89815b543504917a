from dataclasses import replace
from pathlib import Path

import numpy as np

from fidal.report.figures.radar import class_gaps
from fidal.report.frame import Study
from fidal.report.reading import read_folders
from fidal.report.spread import Spread
from fidal.report.style import signed
from fidal.report.subgroups import Subgroup
from fidal.report.summary import summary
from tests.report.made import make_run


def found(study: Study) -> dict[str, str]:
    return {finding.about: finding.text for finding in summary(study)}


def test_the_numbers_are_the_study_s(study: Study) -> None:
    texts = found(study)
    own = 100 * study.spread("fidal", "bma_pooled", 5).mean
    other = 100 * study.spread("badge", "bma_pooled", 5).mean
    assert f"FIDAL chose recognises {own:.1f} %" in texts["Accuracy"]
    assert f"BADGE, reaches {other:.1f} %, {own - other:.1f} points less" in texts["Accuracy"]
    wasted = 100 * (1 - study.spread("fidal", "purity", 5).mean)
    assert f"FIDAL wasted {wasted:.0f} on images" in texts["Expert time"]
    fewer = study.spread("random", "outliers", 5).mean - study.spread("fidal", "outliers", 5).mean
    assert (
        f"{fewer:,.0f} wasted images fewer, {fewer * 59 / 3600:.1f} hours" in texts["Expert time"]
    )
    assert "4 sites" in texts["What was compared"] and "50 images" in texts["What was compared"]
    assert "3 times with other" in texts["What was compared"]


def test_a_defeat_is_called_one(tmp_path: Path) -> None:
    for seed in range(3):
        make_run(tmp_path, "fidal", seed)
        make_run(tmp_path, "badge", seed, bonus=0.2)
    texts = found(read_folders([tmp_path]).studies[0])
    assert texts["Accuracy"].startswith("FIDAL does not come first")
    assert "BADGE reaches" in texts["Accuracy"]


def test_wasting_more_than_chance_is_no_saving(tmp_path: Path) -> None:
    make_run(tmp_path, "badge")
    make_run(tmp_path, "random")
    text = found(read_folders([tmp_path]).studies[0])["Expert time"]
    assert "That is no saving" in text
    assert "Random wasted fewer still" in text


def test_one_seed_cannot_tell(tmp_path: Path) -> None:
    make_run(tmp_path, "fidal")
    make_run(tmp_path, "random")
    assert "cannot tell" in found(read_folders([tmp_path]).studies[0])["Accuracy"]


def test_a_method_alone_is_compared_with_nobody(study: Study) -> None:
    texts = found(replace(study, main=("fidal",)))
    assert "Accuracy" not in texts
    assert "the others" not in texts["Expert time"]


def test_single_classes_name_the_largest_lead_and_the_other_end(study: Study) -> None:
    gaps = dict(zip(study.classes, class_gaps(study), strict=True))
    text = found(study)["Single classes"]
    most, least = max(gaps, key=gaps.__getitem__), min(gaps, key=gaps.__getitem__)
    ahead = sum(gap > 0 for gap in gaps.values())
    assert f"recognises {ahead} of 8 classes better" in text
    assert f"Largest lead: {most} ({signed(gaps[most])} points)" in text
    assert f"at the other end: {least} ({signed(gaps[least])})" in text


def test_the_gate_is_told_by_its_worst_site(study: Study) -> None:
    text = found(study)["The gate"]
    caught = {
        site: 100 * study.values("fidal", "gate.true_recall", site)[:, 1:].mean()
        for site in study.sites
    }
    worst = min(caught, key=caught.__getitem__)
    assert f"it refused {np.mean(list(caught.values())):.0f} of 100 foreign images" in text
    assert f"It caught least at {worst} ({caught[worst]:.0f})" in text


def group(column: str, value: str, images: int, score: float, classes: int = 8) -> Subgroup:
    return Subgroup(column, value, images, classes, {"fidal": Spread(score, 0.01, 3, 3)})


def test_the_widest_gap_between_groups_of_one_task_is_told(study: Study) -> None:
    groups = (
        group("sex", "f", 200, 0.5),
        group("sex", "m", 180, 0.44),
        group("sex", "not recorded", 90, 0.1),
        group("skin", "I", 300, 0.5),
        group("skin", "IV", 40, 0.41),
        group("skin", "VI", 12, 0.0),  # few
        group("skin", "V", 60, 0.9, classes=1),  # another task
    )
    (finding,) = [f for f in summary(study, groups=groups) if f.about == "Whom it serves"]
    assert finding.text.startswith(
        "The widest gap between two subgroups is 9.0 points, by skin: 41.0 % for IV (40 test "
        "images), 50.0 % for I (300 test images)."
    )


def test_no_two_groups_to_compare_say_nothing(study: Study) -> None:
    groups = (group("sex", "f", 200, 0.5), group("sex", "m", 10, 0.4))
    assert not [f for f in summary(study, groups=groups) if f.about == "Whom it serves"]
