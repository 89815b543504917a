from dataclasses import replace
from pathlib import Path

from fidal.report.frame import Study
from fidal.report.reading import read_folders
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
