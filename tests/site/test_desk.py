from collections.abc import Iterator
from pathlib import Path

import pytest

from fidal.site.desk import Desk, Task
from fidal.site.ledger import Ledger
from fidal.site.ledger_file import LedgerError
from fidal.types import OUTLIER


@pytest.fixture
def desk(tmp_path: Path) -> Iterator[Desk]:
    ledger = Ledger.open(tmp_path / "ledger.sqlite", federation="f", site="east")
    ledger.ask(0, ["c", "a", "b"])
    yield Desk(ledger, ("mel", "nv"))
    ledger.close()


def test_what_waits_is_there_round_by_round_best_first(desk: Desk) -> None:
    desk.answer("a", "nv", by="eva")
    desk.ledger.ask(1, ["z", "y"])
    assert desk.pending() == (
        Task("c", 0, 1),
        Task("b", 0, 3),
        Task("z", 1, 1),
        Task("y", 1, 2),
    )
    assert desk.answered() == 1


def test_answers_are_classes_or_ood(desk: Desk) -> None:
    desk.answer("a", "nv", by="eva")
    desk.answer("b", "ood", by="eva")
    assert desk.ledger.answers() == {"a": 1, "b": OUTLIER}


def test_an_undone_answer_waits_again_at_its_place(desk: Desk) -> None:
    for sample in "cab":
        desk.answer(sample, "mel", by="eva")
    assert desk.undo("eva") == "b" and desk.undo("eva") == "a"
    assert [task.sample for task in desk.pending()] == ["a", "b"]
    assert desk.undo("jo") is None


def test_what_is_no_answer_is_refused(desk: Desk) -> None:
    with pytest.raises(ValueError, match="no class 'nvv'; answer ood or one of mel, nv"):
        desk.answer("a", "nvv", by="eva")
    with pytest.raises(ValueError, match="`by` is empty"):
        desk.answer("a", "nv", by=" ")
    with pytest.raises(LedgerError, match="never asked"):
        desk.answer("x", "nv", by="eva")
    assert desk.answered() == 0
