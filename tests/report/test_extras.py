import json
from pathlib import Path

from fidal.report.extras import NOTHING, Albums, first_run, gather
from fidal.report.frame import Study
from fidal.report.reading import read_folders
from tests.report.made import make_run


def test_everything_that_the_sites_kept_is_gathered(real: Path) -> None:
    (study,) = read_folders([real / "runs"]).studies
    notices: list[str] = []
    found = gather(study, Albums(real / "data" / "cache"), notices)
    assert notices == []
    assert [query.site for query in found.queries] == ["east", "west"]
    assert found.album is not None and found.gate is not None and found.features is not None
    assert found.features.projection == "pca"
    assert {group.column for group in found.subgroups} == {"sex", "age"}


def test_rows_alone_have_no_extras_and_need_no_benchmark(study: Study, tmp_path: Path) -> None:
    notices: list[str] = []
    assert gather(study, Albums(tmp_path), notices) is NOTHING
    assert notices == []


def test_what_cannot_be_opened_is_told(tmp_path: Path) -> None:
    gone = {"name": "folder", "manifest": str(tmp_path / "gone.csv")}
    folder = make_run(tmp_path / "runs", "fidal", benchmark=gone)
    (folder / "sites" / "north").mkdir(parents=True)
    (study,) = read_folders([tmp_path / "runs"]).studies
    notices: list[str] = []
    assert gather(study, Albums(tmp_path), notices) is NOTHING
    (notice,) = notices
    assert notice.startswith("folder: nothing is shown of single images") and "gone.csv" in notice


def test_an_album_is_opened_once(real: Path) -> None:
    albums = Albums(real / "data" / "cache")
    (study,) = read_folders([real / "runs"]).studies
    one, two = (albums.of(json.loads(json.dumps(run.config))) for run in study.runs)
    assert one[0] is two[0] and one[1] is two[1]


def test_the_first_seed_that_the_reference_has_is_shown(tmp_path: Path) -> None:
    make_run(tmp_path, "random", 0)
    for seed in (2, 1):
        make_run(tmp_path, "fidal", seed)
    run = first_run(read_folders([tmp_path]).studies[0])
    assert (run.strategy, run.seed) == ("fidal", 1)
