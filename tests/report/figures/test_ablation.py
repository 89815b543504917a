from pathlib import Path

import pytest

from fidal.report.figures.ablation import arms, draw
from fidal.report.frame import Study
from fidal.report.reading import read_folders
from fidal.report.style import KNOWN, OOD
from tests.report.made import make_run

BASE = {
    "name": "fidal",
    "lambda_div": 5.0,
    "lambda_ood": 0.5,
    "gate": {"name": "gate", "density": {"name": "diagonal"}, "threshold": {"name": "otsu"}},
    "support": "standardized",
}
ARMS = [{**BASE, "gate": None}, {**BASE, "lambda_div": 0.0}, {**BASE, "support": "off"}]
GRID = [
    {**BASE, "lambda_div": div, "lambda_ood": ood}
    for div in (0.0, 1.0, 5.0)
    for ood in (0.0, 0.5, 2.0)
    if (div, ood) not in ((5.0, 0.5), (0.0, 0.5))
]


def study_of(root: Path, tables: list[dict[str, object]]) -> Study:
    for table in tables:
        for seed in (0, 1):
            make_run(root, table, seed)  # type: ignore[arg-type]
    (study,) = read_folders([root]).studies
    return study


def test_points_are_purity_and_score_of_each_arm_with_its_spread(tmp_path: Path) -> None:
    study = study_of(tmp_path, [BASE, *ARMS])
    made = draw(study)
    assert made is not None
    texts = [text.get_text() for text in made.legends[0].get_texts()]
    assert texts == ["adopted", "gate=none", "lambda_div=0", "support=off"]
    for method, bars in zip(["fidal", *arms(study)], made.axes[0].containers, strict=True):
        x, y = (study.spread(method, key, 5) for key in ("purity", "bma_pooled"))
        assert bars.lines[0].get_xydata()[0] == pytest.approx([100 * x.mean, 100 * y.mean])
        across, up = (collection.get_paths()[0].vertices for collection in bars.lines[2])
        assert across[1, 0] - across[0, 0] == pytest.approx(200 * x.std)
        assert up[1, 1] - up[0, 1] == pytest.approx(200 * y.std)


def test_the_adopted_one_stands_in_a_red_circle_and_keeps_its_star(tmp_path: Path) -> None:
    study = study_of(tmp_path, [BASE, *ARMS])
    made = draw(study)
    assert made is not None
    (circle,) = [line for line in made.axes[0].lines if line.get_markeredgecolor() == OOD]
    best = study.spread("fidal", "bma_pooled", 5).mean
    assert circle.get_ydata()[0] == pytest.approx(100 * best)
    stars = [line for line in made.axes[0].lines if line.get_marker() == "*"]
    assert [line.get_color() for line in stars] == [KNOWN["fidal"].colour]


def test_two_fields_changed_at_once_are_no_arm(tmp_path: Path) -> None:
    study = study_of(tmp_path, [BASE, *ARMS, {**BASE, "gate": None, "lambda_div": 0.0}])
    assert arms(study) == ["fidal (gate=none)", "fidal (lambda_div=0)", "fidal (support=off)"]


def test_of_a_grid_only_what_is_switched_off_is_an_arm(tmp_path: Path) -> None:
    study = study_of(tmp_path, [BASE, *ARMS, *GRID])
    assert arms(study) == [
        "fidal (gate=none)",
        "fidal (lambda_div=0)",
        "fidal (lambda_ood=0)",
        "fidal (support=off)",
    ]


def test_a_grid_alone_is_no_ablation(tmp_path: Path) -> None:
    study = study_of(tmp_path, [BASE, ARMS[1], *GRID])
    assert arms(study) == [] and draw(study) is None


def test_one_variant_is_no_ablation(study: Study) -> None:
    assert draw(study) is None
