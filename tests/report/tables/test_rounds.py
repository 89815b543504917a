from fidal.report.frame import Study
from fidal.report.tables.rounds import rounds


def test_every_method_at_every_round(study: Study) -> None:
    table = rounds(study)
    assert len(table.lines) == 4 * 6
    last = table.lines[-1]
    assert last.cells[:2] == ("FIDAL", "R5")
    assert last.cells[4] == study.spread("fidal", "labelled", 5)
