"""Sweeps with real processes: what they leave behind, and what happens when one of them dies."""

import multiprocessing
import os
import signal
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from fidal.experiment.config import Experiment
from fidal.experiment.folder import RunFolder
from fidal.experiment.standing import standing
from fidal.experiment.sweep.calling import Calling
from fidal.experiment.sweep.conductor import conduct
from fidal.experiment.sweep.events import Began, Ended, Event, Went
from fidal.experiment.sweep.expansion import expand, part
from fidal.experiment.sweep.home import Home
from fidal.rows import read
from tests.small import images, table


@pytest.fixture(scope="module")
def config(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """Four runs of half a second."""
    manifest = images(tmp_path_factory.mktemp("images"))
    return table(manifest, sweep={"strategy": ["random", "entropy"], "seed": [0, 1]})


@pytest.fixture(autouse=True)
def _one_thread_each(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """The last digits of a sum depend on how many threads share it out."""
    monkeypatch.setenv("OMP_NUM_THREADS", "1")
    yield
    assert not workers(), "no process outlives its sweep"


def workers() -> list[multiprocessing.Process]:
    return [child for child in multiprocessing.active_children() if child.is_alive()]  # type: ignore[misc]


def sweep(
    experiments: Sequence[Experiment],
    home: Path,
    heard: Callable[[Event], None] | None = None,
    **calling: Any,
) -> list[Event]:
    """All of it; `heard` may do things in between."""
    events = []
    cache = home.parent / "cache"
    with closing(conduct(experiments, Home(home), cache, Calling(**calling))) as told:
        for event in told:
            events.append(event)
            if heard:
                heard(event)
    return events


def ends(events: Sequence[Event]) -> dict[str, str]:
    return {e.experiment.run_name: e.end for e in events if isinstance(e, Ended)}


def rows(home: Path) -> dict[str, bytes]:
    return {file.parent.name: file.read_bytes() for file in home.glob("*/rounds.jsonl")}


Whole = tuple[list[Experiment], dict[str, bytes]]


@pytest.fixture(scope="module")
def whole(config: dict[str, Any], tmp_path_factory: pytest.TempPathFactory) -> Whole:
    """The experiments, and the rows of a sweep that nothing happened to."""
    home = tmp_path_factory.mktemp("whole") / "home"
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("OMP_NUM_THREADS", "1")
        events = sweep(expand(config), home)
    assert set(ends(events).values()) == {"done"}
    return expand(config), rows(home)


def test_every_run_is_told_from_its_beginning_to_its_end(whole: Whole, tmp_path: Path) -> None:
    experiments, _ = whole
    only = experiments[:1]
    events = sweep(only, tmp_path / "home")
    assert events[0] == Began(only[0], 0)
    assert events[-1] == Ended(only[0], "done", 3)
    assert [e.round for e in events if isinstance(e, Went) and e.phase == "evaluate"] == [0, 1, 2]
    left = {path.name for path in (tmp_path / "home" / only[0].run_name).iterdir()}
    assert "log.txt" not in left and "failures.jsonl" not in left


def test_two_jobs_give_the_same_rows_as_one_byte_for_byte(whole: Whole, tmp_path: Path) -> None:
    experiments, expected = whole
    together = 0

    def watch(event: Event) -> None:
        nonlocal together
        together = max(together, len(workers()))

    sweep(experiments, tmp_path / "home", watch, jobs=2)
    assert together == 2
    assert rows(tmp_path / "home") == expected


def test_finished_runs_are_not_run_again(whole: Whole, tmp_path: Path) -> None:
    experiments, _ = whole
    sweep(experiments[:2], tmp_path / "home")
    before = {p: p.stat().st_mtime_ns for p in (tmp_path / "home").rglob("*")}
    events = sweep(experiments[:2], tmp_path / "home")
    assert events == [Ended(each, "done", 3, before=True) for each in experiments[:2]]
    assert {p: p.stat().st_mtime_ns for p in (tmp_path / "home").rglob("*")} == before


def test_shards_together_do_everything_exactly_once(whole: Whole, tmp_path: Path) -> None:
    experiments, expected = whole
    begun = []
    for number in (1, 2, 3):
        events = sweep(part(experiments, number, 3), tmp_path / "home")
        begun += [e.experiment.run_name for e in events if isinstance(e, Began)]
    assert sorted(begun) == sorted(each.run_name for each in experiments)
    assert rows(tmp_path / "home") == expected


def test_a_run_that_fails_is_an_event_and_a_row_and_the_others_go_on(
    config: dict[str, Any], whole: Whole, tmp_path: Path
) -> None:
    wrong = expand({**config, "sweep": {"network.kind": ["linear"]}})
    good = whole[0][:1]
    failed, done = [e for e in sweep([*wrong, *good], tmp_path / "home") if isinstance(e, Ended)]
    assert (failed.end, done.end) == ("failed", "done")
    assert failed.failure and failed.failure.kind == "refused"
    assert "does not take images" in failed.failure.reason
    (row,) = read(RunFolder(tmp_path / "home" / wrong[0].run_name).failures)
    assert (row["run"], row["round"], row["reason"]) == (
        wrong[0].run_name,
        0,
        failed.failure.reason,
    )


def test_a_failed_run_runs_again_only_when_asked(config: dict[str, Any], tmp_path: Path) -> None:
    manifest = Path(config["benchmark"]["manifest"])
    absent = {**config["benchmark"], "manifest": str(tmp_path / "later" / "manifest.csv")}
    (late,) = expand({**config, "benchmark": absent, "sweep": {"seed": [5]}})
    (first,) = (e for e in sweep([late], tmp_path / "home") if isinstance(e, Ended))
    assert first.end == "failed" and first.failure and "no manifest at" in first.failure.reason
    (tmp_path / "later").symlink_to(manifest.parent)
    (again,) = sweep([late], tmp_path / "home")
    assert again == Ended(late, "failed", 0, before=True, failure=first.failure)
    events = sweep([late], tmp_path / "home", retry=True)
    assert events[0] == Began(late, 0) and ends(events) == {late.run_name: "done"}
    kinds = [row["kind"] for row in read(RunFolder(tmp_path / "home" / late.run_name).failures)]
    assert kinds == ["refused", "retried"]


def test_a_killed_process_is_a_row_and_a_retry_ends_as_if_nothing_had_been(
    whole: Whole, tmp_path: Path
) -> None:
    experiments, expected = whole
    home = tmp_path / "home"

    def kill(event: Event) -> None:
        if isinstance(event, Went) and (event.phase, event.round) == ("train", 1) and workers():
            os.kill(workers()[0].pid or 0, signal.SIGKILL)

    found = [e for e in sweep(experiments[:1], home, kill) if isinstance(e, Ended)]
    (death,) = found
    assert death.end == "failed" and death.failure
    assert death.failure.kind == "died" and "killed by SIGKILL" in death.failure.reason
    (row,) = read(RunFolder(home / experiments[0].run_name).failures)
    assert (row["round"], row["kind"]) == (1, "died")
    (began, *_, end) = sweep(experiments[:1], home, retry=True)
    assert began == Began(experiments[0], 1) and end == Ended(experiments[0], "done", 3)
    assert rows(home)[experiments[0].run_name] == expected[experiments[0].run_name]


def test_a_sweep_that_is_closed_ends_its_processes_and_the_next_one_goes_on(
    whole: Whole, tmp_path: Path
) -> None:
    experiments, expected = whole
    home = tmp_path / "home"

    def stop(event: Event) -> None:
        if isinstance(event, Went) and event.round == 1:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        sweep(experiments, home, stop, jobs=2)
    assert not workers()
    cut = [standing(each, RunFolder(home / each.run_name)) for each in experiments]
    assert "cut" in {each.status for each in cut}
    assert not list(home.glob("*/failures.jsonl"))
    events = sweep(experiments, home, jobs=2)
    assert max(e.round for e in events if isinstance(e, Began)) == 1
    assert rows(home) == expected


def test_a_run_that_another_process_holds_is_left_to_it(whole: Whole, tmp_path: Path) -> None:
    experiments, expected = whole
    home = tmp_path / "home"
    with RunFolder(home / experiments[0].run_name).held():
        events = sweep(experiments[:2], home)
    assert events[0] == Ended(experiments[0], "elsewhere", 0, before=True)
    assert ends(events)[experiments[1].run_name] == "done"
    assert set(rows(home)) == {experiments[1].run_name}
    assert ends(sweep(experiments, home))[experiments[0].run_name] == "done"
    assert rows(home) == expected


def test_two_sweeps_that_meet_run_each_run_once(whole: Whole, tmp_path: Path) -> None:
    """Step by step in turns, both over all runs and each with processes of its own."""
    experiments, expected = whole
    home, cache = Home(tmp_path / "home"), tmp_path / "cache"
    with (
        closing(conduct(experiments, home, cache, Calling())) as one,
        closing(conduct(experiments, home, cache, Calling())) as other,
    ):
        running = [one, other]
        while running:
            running = [told for told in running if next(told, None) is not None]
    assert rows(home.path) == expected
    for each in experiments:
        times = read(home.run(each).timings)
        phases = [(time["phase"], time["site"], time["round"]) for time in times]
        assert len(phases) == len(set(phases)) == 3 * 3 * 2, "a phase that ran twice is there twice"


@pytest.mark.parametrize(
    ("damage", "says"),
    [
        (lambda run: (run / "config.json").write_text("{"), "config.json can't be used"),
        (lambda run: (run / "state.safetensors").write_bytes(b"x"), "is no whole state"),
        (lambda run: (run / "rounds.jsonl").unlink(), "lacks the rows"),
        (lambda run: (run / "rounds.jsonl").write_text("[]\n"), "no row of fidal"),
    ],
)
def test_a_run_folder_that_can_not_be_read_fails_alone_and_stays_as_it_is(
    whole: Whole, tmp_path: Path, damage: Callable[[Path], object], says: str
) -> None:
    experiments, _ = whole
    home, broken = tmp_path / "home", tmp_path / "home" / experiments[0].run_name
    sweep(experiments[:1], home)
    damage(broken)
    before = {p: p.read_bytes() for p in broken.rglob("*") if p.is_file()}
    first, *rest = sweep(experiments[:2], home)
    assert isinstance(first, Ended) and first.end == "failed" and first.failure
    assert says in first.failure.reason
    assert ends(rest) == {experiments[1].run_name: "done"}
    assert {p: p.read_bytes() for p in broken.rglob("*") if p.is_file()} == before


def test_a_file_or_somebody_s_folder_in_a_run_s_place_is_left_alone(
    whole: Whole, tmp_path: Path
) -> None:
    experiments, _ = whole
    home = tmp_path / "home"
    thesis = home / experiments[0].run_name / "thesis.tex"
    thesis.parent.mkdir(parents=True)
    thesis.write_text("chapter one")
    (home / experiments[1].run_name).write_text("a file")
    found = [e for e in sweep(experiments[:2], home) if isinstance(e, Ended)]
    assert [e.end for e in found] == ["failed", "failed"]
    reasons = [e.failure.reason if e.failure else "" for e in found]
    assert any("holds files that are not a run's" in reason for reason in reasons)
    assert list(thesis.parent.iterdir()) == [thesis] and thesis.read_text() == "chapter one"


def test_what_a_process_prints_is_kept(whole: Whole, tmp_path: Path) -> None:
    """Its warnings and its last words would tear the table of the sweep."""
    experiments, _ = whole
    home = tmp_path / "home"
    log = RunFolder(home / experiments[0].run_name).log
    log.parent.mkdir(parents=True)

    def print_something(event: Event) -> None:
        if isinstance(event, Went) and workers():
            log.write_text("Fatal: out of paper")
            os.kill(workers()[0].pid or 0, signal.SIGSEGV)
            time.sleep(0.05)

    (end,) = (e for e in sweep(experiments[:1], home, print_something) if isinstance(e, Ended))
    assert end.failure and "SIGSEGV" in end.failure.reason
    assert end.failure.detail == "Fatal: out of paper" and log.exists()
