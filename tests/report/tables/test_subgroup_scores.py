from dataclasses import replace

from fidal.report.frame import Study
from fidal.report.spread import Spread
from fidal.report.subgroups import Subgroup
from fidal.report.tables.subgroup_scores import subgroup_scores


def group(value: str, images: int, fidal: float, random: float) -> Subgroup:
    scores = {"fidal": Spread(fidal, 0.01, 3, 3), "random": Spread(random, 0.02, 2, 3)}
    return Subgroup("sex", value, images, 2, scores)


def test_lines_are_ranked_within_their_group_and_small_groups_not_at_all(study: Study) -> None:
    two = replace(study, main=("random", "fidal"))
    table = subgroup_scores(two, [group("f", 212, 0.5, 0.4), group("m", 29, 0.3, 0.6)])
    assert table is not None
    cells = [[cell.text for cell in row] for row in table.cells()]
    assert cells[0] == ["sex: f", "212", "2", "Random", "40.0 ± 2.0 [2/3]"]
    assert cells[2][:2] == ["sex: m", "29 (few)"]
    assert [row[4].mark for row in table.cells()] == ["second", "best", "", ""]
    assert [line.strategy for line in table.lines] == ["random", "fidal"] * 2


def test_no_groups_no_table(study: Study) -> None:
    assert subgroup_scores(study, []) is None
