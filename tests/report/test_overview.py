from pathlib import Path

from fidal.report.frame import Study
from fidal.report.overview import over_settings
from fidal.report.reading import read_folders
from fidal.report.style import signed
from tests.report.made import make_run


def test_leads_of_all_settings_in_a_sentence(tmp_path: Path) -> None:
    for budget, bonus in ((50, 0.0), (100, 0.3)):
        make_run(tmp_path, "fidal", budget=budget)
        make_run(tmp_path, "badge", budget=budget, bonus=bonus)
    studies = read_folders([tmp_path]).studies
    leads = [
        100
        * (
            study.spread("fidal", "bma_pooled", 5).mean
            - study.spread("badge", "bma_pooled", 5).mean
        )
        for study in studies
    ]
    assert leads[1] < 0 < leads[0]
    found = over_settings(studies)
    assert found is not None
    assert found.text == (
        "In 1 of 2 settings FIDAL has the best score of the last round; its distance to the best "
        f"other method goes from {signed(leads[1])} to {signed(leads[0])} points. It wastes the "
        "fewest images in 2 of 2."
    )


def test_a_rival_without_a_last_round_is_no_better(tmp_path: Path) -> None:
    for budget in (50, 100):
        make_run(tmp_path, "fidal", budget=budget)
        make_run(tmp_path, "badge", budget=budget)
        make_run(tmp_path, "pal", budget=budget, upto=3)
    found = over_settings(read_folders([tmp_path]).studies)
    assert found is not None and "the fewest images in 2 of 2" in found.text


def test_one_setting_and_methods_alone_say_nothing(study: Study, tmp_path: Path) -> None:
    assert over_settings([study]) is None
    for budget in (50, 100):
        make_run(tmp_path, "fidal", budget=budget)
    assert over_settings(read_folders([tmp_path]).studies) is None
