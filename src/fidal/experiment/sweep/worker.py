"""One run in a process of its own: what the process does, and what it says to the sweep.

The process comes from a fork server that has imported the house once: a start takes milliseconds,
not seconds, and no thread or GPU of the sweep's own process is forked.
"""

import multiprocessing
import os
import signal
import threading
import traceback
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from multiprocessing import forkserver
from multiprocessing.connection import Connection
from multiprocessing.context import ForkServerContext
from pathlib import Path
from typing import Final

import torch
from threadpoolctl import threadpool_limits

from fidal.experiment.config import Experiment
from fidal.experiment.folder import RunFolder
from fidal.experiment.run import REFUSALS, Run
from fidal.experiment.standing import Failure
from fidal.federation.coordinator import Phase
from fidal.storage import Busy

BUSY: Final = "busy"
DONE: Final = "done"

Word = tuple[Phase, int, int, int] | Failure | str
"""What a worker says: where the run is, and at the end how it ended."""


@dataclass(frozen=True)
class Order:
    """One run to be done, in a folder that is there."""

    experiment: Experiment
    folder: RunFolder
    cache: Path
    environment: Mapping[str, str]


def fork_server() -> ForkServerContext:
    """The one that all workers come from, running. It and they inherit that Ctrl-C is ignored: the
    sweep decides what that means, and every process of the terminal gets it.
    """
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["__main__", __name__])
    if threading.current_thread() is threading.main_thread():
        before = signal.signal(signal.SIGINT, signal.SIG_IGN)
        try:
            forkserver.ensure_running()
        finally:
            signal.signal(signal.SIGINT, before)
    return context


def work(order: Order, mouth: Connection) -> None:
    """Do the run and say how it ended; a run that is finished ends at once."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_die_with_the_sweep, daemon=True).start()
    _move_in(order)

    def told(phase: Phase, round: int, step: int, steps: int) -> None:
        mouth.send((phase, round, step, steps))

    try:
        Run(order.experiment, order.folder).go(order.cache, told)
        mouth.send(DONE)
    except Busy:
        mouth.send(BUSY)
    except REFUSALS as error:
        mouth.send(Failure("refused", str(error)))
    except Exception as error:
        reason = f"{type(error).__name__}: {error}"
        mouth.send(Failure("bug", reason, traceback.format_exc()))
    finally:
        mouth.close()


def _die_with_the_sweep() -> None:
    """A sweep that is killed leaves no process behind; a run can be killed at any moment."""
    sweep = multiprocessing.parent_process()
    if sweep is not None:
        sweep.join()
        os.kill(os.getpid(), signal.SIGKILL)


def _move_in(order: Order) -> None:
    """The environment, threads and output of this run."""
    os.environ.update(order.environment)
    with suppress(ValueError):
        threads = int(order.environment["OMP_NUM_THREADS"])
        torch.set_num_threads(threads)
        threadpool_limits(threads)
    log = os.open(order.folder.log, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o666)
    for stream in (1, 2):
        os.dup2(log, stream)
    os.close(log)
