"""A sweep while it goes on: a live table on a terminal, lines elsewhere, JSON for machines."""

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Final

from rich.console import Console, Group, RenderableType
from rich.live import Live
from rich.table import Table
from rich.text import Text

from fidal.experiment.sweep.board import Board, Entry, Status
from fidal.experiment.sweep.events import Began, Ended, Event, Went

View = Callable[[Event], object]

ORDER: Final[tuple[Status, ...]] = ("done", "running", "failed", "elsewhere", "waiting")
COLOUR: Final = {"running": "cyan", "done": "green", "failed": "red", "elsewhere": "yellow"}


@contextmanager
def viewing(console: Console, name: str, board: Board, as_json: bool) -> Iterator[View]:
    """What shows each event, once the board has heard it."""
    if not as_json and console.is_terminal:
        with Live(
            get_renderable=lambda: _picture(console, name, board),
            console=console,
            refresh_per_second=4,
        ):
            yield lambda event: board.hear(event)
        return

    def view(event: Event) -> None:
        entry = board.hear(event)
        line = _json(event, board) if as_json else _line(event, entry, board)
        if line:
            print(line, flush=True)

    yield view


def counted(board: Board) -> str:
    """`3 done, 2 running, 9 waiting`."""
    counts = board.counts()
    return ", ".join(f"{counts[status]} {status}" for status in ORDER if counts.get(status))


def _picture(console: Console, name: str, board: Board) -> RenderableType:
    """All runs if they fit; else the running, then the failed, then the latest to end."""
    table = Table("run", "", "round", "time", "", box=None, pad_edge=False)
    entries = [entry for entry in board.entries.values() if entry.status != "waiting"]
    room = max(3, console.height - 4)
    if len(entries) > room:
        rank = {"running": 0, "failed": 1}
        entries.sort(key=lambda entry: (rank.get(entry.status, 2), -entry.ended))
        entries = entries[:room]
    now = board.now()
    for entry in entries:
        colour = COLOUR[entry.status]
        reason = entry.failure.reason.splitlines()[0] if entry.failure else ""
        cells = (entry.experiment.run_name, entry.status, _rounds(entry), _time(entry, now), reason)
        table.add_row(*(Text(cell, colour if i == 1 else "") for i, cell in enumerate(cells)))
    head = f"{name}: {counted(board)}; {clock(board.elapsed())} so far, {_left(board)}"
    return Group(Text(head, "bold"), table)


def _line(event: Event, entry: Entry, board: Board) -> str:
    """One per beginning, round and end."""
    run, of = entry.experiment.run_name, entry.experiment.rounds
    match event:
        case Began():
            return f"{run}: {f'goes on at round {event.round}' if event.round else 'begins'}"
        case Went():
            return f"{run}: round {event.round} of {of}" if event.phase == "evaluate" else ""
    if event.before:
        what = {"done": "was done before", "failed": "failed before, is not run again"}
        return f"{run}: {what.get(event.end, 'another process is at work on it')}"
    reason = f": {entry.failure.reason}" if entry.failure else ""
    head = f"{run}: {event.end} after {clock(entry.ended - entry.began)}{reason}"
    return f"{head} ({counted(board)}; {_left(board)})".replace("\n", "; ")


def _json(event: Event, board: Board) -> str:
    head: dict[str, object] = {"run": event.experiment.run_name, "round": event.round}
    match event:
        case Began():
            line = {"event": "began", **head}
        case Went():
            step = {"phase": event.phase, "step": event.step, "steps": event.steps}
            line = {"event": "went", **head, **step}
        case Ended():
            reason = event.failure.reason if event.failure else None
            line = {"event": event.end, **head, "before": event.before, "reason": reason}
    if not isinstance(event, Went):
        line |= {"counts": board.counts(), "seconds_left": board.remaining()}
    return json.dumps(line)


def _rounds(entry: Entry) -> str:
    if entry.status == "elsewhere":
        return ""
    of = entry.experiment.rounds
    return f"{min(entry.round, of)}/{of} {entry.phase if entry.status == 'running' else ''}"


def _time(entry: Entry, now: float) -> str:
    if entry.before:
        return "before"
    return clock((entry.ended or now) - entry.began)


def _left(board: Board) -> str:
    seconds = board.remaining()
    if seconds is None:
        return "time left not known yet"
    return f"about {clock(seconds)} left" if seconds else "nothing left to do"


def clock(seconds: float) -> str:
    """`1:05` or `2:03:40`.

    >>> clock(65), clock(7420)
    ('1:05', '2:03:40')
    """
    minutes, second = divmod(round(seconds), 60)
    hours, minute = divmod(minutes, 60)
    return f"{hours}:{minute:02}:{second:02}" if hours else f"{minute}:{second:02}"
