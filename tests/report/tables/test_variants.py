from pathlib import Path

from fidal.report.frame import Study
from fidal.report.reading import read_folders
from fidal.report.tables.variants import variants
from tests.report.made import make_run


def test_only_strategies_with_variants_are_in_it(tmp_path: Path) -> None:
    base = {"name": "stranger", "weight": 1.0, "gate": "otsu"}
    for table in (base, {**base, "weight": 0.0}, {**base, "gate": None}, "random"):
        make_run(tmp_path, table)
    table = variants(read_folders([tmp_path]).studies[0])
    assert table is not None
    assert [line.cells[0] for line in table.lines] == [
        "stranger",
        "stranger (gate=none)",
        "stranger (weight=0)",
    ]


def test_no_variants_no_table(study: Study) -> None:
    assert variants(study) is None
