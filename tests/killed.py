"""Processes that die by SIGKILL in the middle of their work.

A fork server imports the modules of the workers once, so that each life starts at once.
"""

import multiprocessing
import signal
import time
from collections.abc import Callable
from multiprocessing.connection import Connection
from pathlib import Path

PROCESSES = multiprocessing.get_context("forkserver")
PROCESSES.set_forkserver_preload(
    [
        "pytest",
        "fidal.experiment.sweep.worker",
        "tests.experiment.test_kill",
        "tests.site.test_ledger",
        "tests.test_storage",
        "tests.test_rows",
    ]
)

Worker = Callable[[Path, Connection], None]
"""Works on a path and says a number after each thing that it has finished."""


def killed_after(seconds: float, work: Worker, path: Path) -> list[int]:
    """Kill `work` so long after its first word; what it said until then."""
    ear, mouth = PROCESSES.Pipe(duplex=False)
    process = PROCESSES.Process(target=work, args=(path, mouth), daemon=True)
    process.start()
    mouth.close()
    words = [ear.recv()]
    time.sleep(seconds)
    process.kill()
    process.join()
    assert process.exitcode == -signal.SIGKILL, "the worker came to an end before it was killed"
    try:
        while True:
            words.append(ear.recv())
    except (EOFError, OSError):  # OSError: killed in the middle of a word
        return words
