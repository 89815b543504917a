"""`fidal sweep`: all runs of a file, several at a time."""

import json
import signal
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from types import FrameType
from typing import Annotated, Final

import typer
from rich.console import Console

from fidal.cli.options import Cache, Config, Json, Settings, experiments_of, meaning
from fidal.cli.summary import last_rows, print_summary
from fidal.cli.sweep_view import counted, viewing
from fidal.experiment.config import Experiment
from fidal.experiment.sweep.board import Board, Entry
from fidal.experiment.sweep.calling import Calling, calling
from fidal.experiment.sweep.conductor import conduct
from fidal.experiment.sweep.expansion import part
from fidal.experiment.sweep.home import Home

INTERRUPTED: Final = 130
"""The exit code of a program that Ctrl-C has ended."""


def sweep(
    config: Config,
    settings: Settings = None,
    out: Annotated[
        Path | None, typer.Option(help="folder of this sweep; runs/NAME if not given")
    ] = None,
    cache: Cache = Path("cache"),
    jobs: Annotated[int, typer.Option(help=meaning(Calling, "jobs"))] = 1,
    shard: Annotated[str | None, typer.Option(help=meaning(Calling, "shard"))] = None,
    retry: Annotated[bool, typer.Option("--retry", help=meaning(Calling, "retry"))] = False,
    as_json: Json = False,
) -> None:
    """Run every combination of the file's [sweep] table.

    Finished runs are not run again, cut ones go on, and one that fails does not end the others.
    """
    called = calling(jobs, shard, retry)
    every = experiments_of(config, settings)
    name = every[0].name
    home = Home(out or Path("runs") / name)
    mine = part(every, called.shard.number, called.shard.of) if called.shard else every
    if len(mine) < len(every) and not as_json:
        print(f"{name}: {len(mine)} of {len(every)} runs are part {shard}", flush=True)
    raise typer.Exit(run_sweep(name, mine, home, cache, called, as_json))


def run_sweep(
    name: str,
    experiments: list[Experiment],
    home: Home,
    cache: Path,
    called: Calling,
    as_json: bool = False,
) -> int:
    """Run them, show how it goes and what came out. Out: the exit code."""
    home.claim(name)
    console = Console(stderr=as_json)
    board = Board(experiments, time.monotonic)
    code = 0
    try:
        with (
            terminating(),
            viewing(console, name, board, as_json) as view,
            closing(conduct(experiments, home, cache, called)) as events,
        ):
            for event in events:
                view(event)
    except KeyboardInterrupt:
        code = INTERRUPTED
    _conclude(console, name, board, home, as_json, code == INTERRUPTED)
    return code or (2 if board.counts().get("failed") else 0)


def _conclude(
    console: Console, name: str, board: Board, home: Home, as_json: bool, stopped: bool
) -> None:
    entries = list(board.entries.values())
    folders = [home.run(e.experiment) for e in entries if e.status == "done"]
    if as_json:
        runs = [_row(entry) for entry in entries]
        last = {"event": "end", "sweep": name, "stopped": stopped, "counts": board.counts()}
        print(json.dumps({**last, "runs": runs, "rows": last_rows(folders)}), flush=True)
        return
    print_summary(console, folders)
    for entry in entries:
        if entry.failure is not None:
            when = "failed before" if entry.before else "failed"
            reason = "; ".join(entry.failure.reason.splitlines())
            typer.echo(f"fidal: {entry.experiment.run_name} {when}: {reason}", err=True)
    if any(entry.failure and entry.before for entry in entries):
        typer.echo("fidal: failed runs are run again with --retry only", err=True)
    if stopped:
        left = counted(board)
        typer.echo(f"fidal: stopped ({left}); the same command goes on from here", err=True)


def _row(entry: Entry) -> dict[str, object]:
    """One run, for machines."""
    failure = entry.failure
    return {
        "run": entry.experiment.run_name,
        "strategy": entry.experiment.strategy.name,
        "seed": entry.experiment.seed,
        "status": entry.status if entry.status != "running" else "cut",
        "round": entry.round,
        "failure": None
        if failure is None
        else {"kind": failure.kind, "reason": failure.reason, "detail": failure.detail},
    }


@contextmanager
def terminating() -> Iterator[None]:
    """A SIGTERM, by which batch systems end a job, is taken as a Ctrl-C."""

    def interrupt(number: int, frame: FrameType | None) -> None:
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGTERM, interrupt)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)
