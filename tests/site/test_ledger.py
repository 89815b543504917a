from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from multiprocessing.connection import Connection
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fidal.site.ledger import Ledger
from fidal.site.ledger_file import LedgerError
from fidal.types import OUTLIER, UNLABELLED
from tests.killed import killed_after

WORKLIST = tuple(f"img-{i:04d}" for i in np.random.default_rng(0).permutation(4000))


def opened(path: Path) -> Ledger:
    return Ledger.open(path, federation="isic", site="vienna")


@pytest.fixture
def ledger(tmp_path: Path) -> Iterator[Ledger]:
    ledger = opened(tmp_path / "ledger.sqlite")
    yield ledger
    ledger.close()


def again(ledger: Ledger) -> Ledger:
    ledger.close()
    return opened(ledger.path)


# Asking


def test_a_worklist_keeps_its_rank_order_over_a_restart(ledger: Ledger) -> None:
    assert ledger.ask(1, ["c", "a", "b"]) == ("c", "a", "b")
    with_restart = again(ledger)
    assert with_restart.worklist(1) == ("c", "a", "b")
    with_restart.close()


def test_a_round_asks_once(ledger: Ledger) -> None:
    ledger.ask(1, ["c", "a"])
    before = list(ledger.events())
    assert ledger.ask(1, ["x", "y", "z"]) == ("c", "a")
    assert ledger.ask(1, ["c", "a"]) == ("c", "a")
    assert list(ledger.events()) == before


def test_an_undone_answer_is_pending_again_and_its_history_stays(ledger: Ledger) -> None:
    ledger.ask(1, ["c", "a", "b"])
    ledger.answer("c", 2, by="eva")
    ledger.answer("a", 0, by="jo")
    ledger.answer("b", 1, by="eva")
    assert ledger.undo("eva") == "b"
    assert ledger.answers() == {"c": 2, "a": 0}
    assert ledger.pending(1) == ("b",)
    assert ledger.undo("eva") == "c"
    assert ledger.undo("eva") is None
    assert ledger.answers() == {"a": 0}
    ledger.answer("b", 1, by="eva")  # the same answer as before counts again
    assert ledger.answers() == {"b": 1, "a": 0}
    kinds = [event.kind for event in ledger.events()]
    assert kinds == ["query", *["ask"] * 3, *["answer"] * 3, "undo", "undo", "answer"]


def test_an_answer_that_another_person_corrected_is_not_undone(ledger: Ledger) -> None:
    ledger.ask(1, ["a"])
    ledger.answer("a", 0, by="eva")
    ledger.answer("a", 1, by="jo")
    assert ledger.undo("eva") is None
    assert ledger.answers() == {"a": 1}


def test_an_empty_worklist_is_a_worklist(ledger: Ledger) -> None:
    assert ledger.worklist(3) is None
    assert ledger.ask(3, []) == ()
    assert ledger.worklist(3) == ()
    assert ledger.pending(3) == ()
    assert ledger.ask(3, ["a"]) == ()


def test_no_sample_is_asked_in_two_rounds_answered_or_not(ledger: Ledger) -> None:
    ledger.ask(1, ["a", "b"])
    ledger.answer("a", 0)
    for sample in ("a", "b"):
        with pytest.raises(LedgerError, match=rf"'vienna'.*round 2.*'{sample}'.*in round 1"):
            ledger.ask(2, ["c", sample])
    assert ledger.worklist(2) is None
    assert ledger.asked() == ("a", "b")
    assert ledger.ask(2, ["c"]) == ("c",)


def test_no_sample_is_asked_twice_in_one_round(ledger: Ledger) -> None:
    with pytest.raises(LedgerError, match=r"'a' a second time"):
        ledger.ask(1, ["a", "b", "a"])
    assert list(ledger.events()) == []


def test_rounds_are_listed_as_they_asked(ledger: Ledger) -> None:
    for round, sample in ((0, "a"), (2, "b"), (1, "c")):
        ledger.ask(round, [sample])
    assert ledger.rounds() == (0, 2, 1)
    assert ledger.asked() == ("a", "b", "c")
    with pytest.raises(LedgerError, match=r"'vienna'"):
        ledger.ask(-1, ["d"])
    assert ledger.rounds() == (0, 2, 1)


def test_ids_of_any_text_come_back_as_they_are(ledger: Ledger) -> None:
    ids = ("", "a'; DROP TABLE event; --", "träne/Ω 1.png", "a\nb", "A", "a")
    assert ledger.ask(1, [np.str_(sample) for sample in ids]) == ids
    assert ledger.worklist(1) == ids
    assert all(type(sample) is str for sample in ledger.asked())


# Answering


def test_answers_are_classes_or_outlier_in_the_order_first_answered(ledger: Ledger) -> None:
    ledger.ask(1, ["a", "b", "c"])
    ledger.answer("c", 7)
    ledger.answer("a", OUTLIER)
    ledger.answer("c", np.int64(2))  # type: ignore[arg-type]
    assert list(ledger.answers().items()) == [("c", 2), ("a", OUTLIER)]
    assert ledger.pending(1) == ("b",)


def test_a_repeated_answer_changes_nothing_and_a_correction_is_one_more_event(
    ledger: Ledger,
) -> None:
    ledger.ask(1, ["a"])
    ledger.answer("a", 3, by="eva")
    once = list(ledger.events())
    ledger.answer("a", 3, by="eva")
    assert list(ledger.events()) == once
    ledger.answer("a", 4, by="eva")
    ledger.answer("a", 3, by="eva")
    ledger.answer("a", 3, by="tom")  # a second reader who agrees is worth knowing
    said = [(e.label, e.by) for e in ledger.events() if e.kind == "answer"]
    assert said == [(3, "eva"), (4, "eva"), (3, "eva"), (3, "tom")]
    assert ledger.answers() == {"a": 3}


@pytest.mark.parametrize("label", [UNLABELLED, -17])
def test_what_is_no_label_is_refused(ledger: Ledger, label: int) -> None:
    ledger.ask(1, ["a"])
    with pytest.raises(LedgerError, match=rf"'vienna'.*label {label} of sample 'a'"):
        ledger.answer("a", label)
    with pytest.raises(TypeError):
        ledger.answer("a", 1.0)  # type: ignore[arg-type]
    assert ledger.answers() == {}


def test_only_what_was_asked_takes_an_answer(ledger: Ledger) -> None:
    ledger.ask(1, ["a"])
    with pytest.raises(LedgerError, match=r"'vienna'.*'b' was never asked"):
        ledger.answer("b", 1)
    assert ledger.answers() == {}


def test_answer_all_is_whole_or_nothing(ledger: Ledger) -> None:
    ledger.ask(1, ["a", "b"])
    with pytest.raises(LedgerError, match=r"'x' was never asked"):
        ledger.answer_all({"a": 1, "b": 2, "x": 3})
    assert ledger.answers() == {}
    ledger.answer("b", 2)
    ledger.answer_all({"a": 1, "b": 2})
    assert list(ledger.answers().items()) == [("b", 2), ("a", 1)]
    assert len([e for e in ledger.events() if e.kind == "answer"]) == 2


def test_nothing_is_pending_before_the_round_has_asked(ledger: Ledger) -> None:
    with pytest.raises(LedgerError, match=r"'vienna'.*round 4 has not asked"):
        ledger.pending(4)


# History


def test_the_answers_of_an_earlier_moment_can_be_had_again(ledger: Ledger) -> None:
    assert ledger.position() == 0
    ledger.ask(1, ["a", "b"])
    ledger.answer("a", 1)
    moment, then = ledger.position(), ledger.answers()
    ledger.answer("a", 5)
    ledger.answer("b", 2)
    assert ledger.answers(until=moment) == then == {"a": 1}
    assert ledger.answers(until=0) == {}
    assert ledger.answers() == {"a": 5, "b": 2}


def test_events_tell_everything_and_when(ledger: Ledger) -> None:
    start = datetime.now(UTC).replace(microsecond=0)
    ledger.ask(1, ["a"])
    ledger.answer("a", 2, by="eva")
    events = list(ledger.events())
    assert [e.key for e in events] == [
        ("query", 1, None, None, None),
        ("ask", 1, "a", None, None),
        ("answer", None, "a", 2, "eva"),
    ]
    assert [e.number for e in events] == [1, 2, 3]
    assert all(start <= e.time <= datetime.now(UTC) for e in events)


@settings(max_examples=12, deadline=None)
@given(steps=st.lists(st.tuples(st.integers(0, 5), st.integers(-1, 3)), max_size=15))
def test_the_ledger_equals_a_dictionary(
    tmp_path_factory: pytest.TempPathFactory, steps: list[tuple[int, int]]
) -> None:
    ledger = opened(tmp_path_factory.mktemp("model") / "ledger.sqlite")
    ids = WORKLIST[:6]
    ledger.ask(1, ids)
    expected: dict[str, int] = {}
    for which, label in steps:
        ledger.answer(ids[which], label)
        expected[ids[which]] = label
    ledger = again(ledger)
    assert list(ledger.answers().items()) == list(expected.items())
    assert ledger.pending(1) == tuple(i for i in ids if i not in expected)
    ledger.close()


# At once


def test_threads_lose_nothing(ledger: Ledger) -> None:
    ids = WORKLIST[:80]
    ledger.ask(1, ids)
    with ThreadPoolExecutor(4) as threads:
        list(threads.map(lambda i: ledger.answer(ids[i], i % 5), range(len(ids))))
        worklists = set(threads.map(lambda r: ledger.ask(2, [f"new-{r}"]), range(20)))
    assert ledger.answers() == {sample: i % 5 for i, sample in enumerate(ids)}
    assert worklists == {ledger.worklist(2)}
    assert ledger.position() == 1 + len(ids) + len(ids) + 2


def test_two_users_of_one_file_see_each_other(ledger: Ledger) -> None:
    page = opened(ledger.path)
    ledger.ask(1, ["a", "b"])
    page.answer("a", 1)
    ledger.answer("b", 2)
    assert page.answers() == ledger.answers() == {"a": 1, "b": 2}
    page.close()


# Accidents


def test_a_full_disk_is_an_error_and_leaves_nothing_half_written(ledger: Ledger) -> None:
    ledger.ask(1, WORKLIST[:50])
    ledger.answer(WORKLIST[0], 1)
    before = list(ledger.events())
    ((pages,),) = ledger._rows("PRAGMA page_count")
    ledger._rows(f"PRAGMA max_page_count = {pages}")
    with pytest.raises(LedgerError, match=r"'vienna'.*disk is full.*free some space"):
        ledger.ask(2, [f"x{i}" for i in range(5000)])
    with pytest.raises(LedgerError, match=r"disk is full"):
        ledger.answer(WORKLIST[1], 1, by="a reader with a very long name" * 1000)
    assert list(ledger.events()) == before
    ledger._rows("PRAGMA max_page_count = 1000000")
    ledger.answer(WORKLIST[1], 1)
    assert list(again(ledger).answers()) == list(WORKLIST[:2])


def label_of(sample: str) -> int:
    return int(sample[4:]) % 5 - 1


def answer_on(path: Path, said: Connection) -> None:
    ledger = opened(path)
    ledger.ask(1, WORKLIST)
    for sample in ledger.pending(1):
        ledger.answer(sample, label_of(sample))
        said.send(1)


def test_a_kill_loses_no_answer_and_asks_none_twice(tmp_path: Path) -> None:
    rng = np.random.default_rng(1)
    path, acknowledged = tmp_path / "ledger.sqlite", 0
    for life in range(1, 11):
        acknowledged += len(killed_after(rng.uniform(0, 0.05), answer_on, path))
        survivor = opened(path)
        kept = survivor.answers()
        survivor.close()
        # An answer may be on the disk though its giver died before saying so.
        assert acknowledged <= len(kept) <= acknowledged + life
        assert list(kept.items()) == [(s, label_of(s)) for s in WORKLIST[: len(kept)]]
    survivor, untouched = opened(path), opened(tmp_path / "untouched.sqlite")
    for ledger in (survivor, untouched):
        ledger.answer_all({s: label_of(s) for s in ledger.ask(1, WORKLIST)})
    assert [e.key for e in survivor.events()] == [e.key for e in untouched.events()]


def open_and_ask(folder: Path, said: Connection) -> None:
    for i in range(10_000):
        opened(folder / f"{i}.sqlite").ask(1, WORKLIST[:300])
        said.send(i)


def test_a_kill_at_birth_leaves_a_whole_ledger_or_none(tmp_path: Path) -> None:
    rng = np.random.default_rng(2)
    for life in range(6):
        folder = tmp_path / str(life)
        folder.mkdir()
        asked = killed_after(rng.uniform(0, 0.06), open_and_ask, folder)
        for path in folder.glob("[0-9]*.sqlite"):
            ledger = opened(path)
            whole = (WORKLIST[:300],) if int(path.stem) in asked else (WORKLIST[:300], None)
            assert ledger.worklist(1) in whole
            assert ledger.ask(1, WORKLIST[:300]) == WORKLIST[:300]
            ledger.close()
