"""The processes that are at work now: hire one for a run, hear them, dismiss them all."""

import signal
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from multiprocessing.connection import Connection, wait
from multiprocessing.context import ForkServerProcess
from pathlib import Path
from typing import Final

from fidal.experiment.standing import Failure
from fidal.experiment.sweep.worker import Order, Word, fork_server, work

PATIENCE: Final = 5.0
"""Seconds that a process has to end after it was told to."""

TAIL: Final = 2000
"""Characters of what a dead process printed that are kept."""


@dataclass(frozen=True)
class Member:
    """A process, its run, and where its words arrive."""

    slot: int
    order: Order
    process: ForkServerProcess
    ear: Connection


class Crew:
    """At most `jobs` members, each in a slot 0, 1, ... of its own."""

    def __init__(self, jobs: int) -> None:
        self._free = list(range(jobs - 1, -1, -1))
        self._members: list[Member] = []
        self._context = fork_server()

    @property
    def slot(self) -> int | None:
        """A free one."""
        return self._free[-1] if self._free else None

    def hire(self, order: Order) -> None:
        """A process for the free slot."""
        ear, mouth = self._context.Pipe(duplex=False)
        process = self._context.Process(target=work, args=(order, mouth), daemon=True)
        self._members.append(Member(self._free.pop(), order, process, ear))
        process.start()
        mouth.close()  # now the worker has the only one, and its end is heard

    def words(self) -> Iterator[tuple[Order, Word]]:
        """Wait until somebody says something; all that has been said. The last word of a member
        is how its run ended, and it leaves.
        """
        ears = {member.ear: member for member in self._members}
        for ear in wait(list(ears)):
            member = ears[ear]  # type: ignore[index]
            word = _heard(member)
            if not isinstance(word, tuple):
                self._leave(member)
                if word == "":
                    word = _died(member)
            yield member.order, word

    def dismiss(self) -> None:
        """End all processes; their runs can go on from where they are at any later time."""
        for member in self._members:
            if member.process.pid is not None:
                member.process.terminate()
        for member in list(self._members):
            if member.process.pid is None:
                continue
            member.process.join(PATIENCE)
            if member.process.is_alive():
                member.process.kill()
            self._leave(member)

    def _leave(self, member: Member) -> None:
        member.process.join()
        member.ear.close()
        self._members.remove(member)
        self._free.append(member.slot)
        with suppress(FileNotFoundError):
            if member.order.folder.log.stat().st_size == 0:
                member.order.folder.log.unlink()


def _heard(member: Member) -> Word:
    """One word; "" if the process came to an end without its last one."""
    try:
        word: Word = member.ear.recv()
        return word
    except (EOFError, OSError):  # OSError: killed in the middle of a word
        return ""


def _died(member: Member) -> Failure:
    code = member.process.exitcode or 0
    printed = _tail(member.order.folder.log)
    if code >= 0:
        return Failure("died", f"its process ended with code {code} in the middle", printed)
    name = signal.Signals(-code).name
    memory = ", as the system does when memory runs out" if -code == signal.SIGKILL else ""
    return Failure("died", f"its process was killed by {name}{memory}", printed)


def _tail(log: Path) -> str:
    return log.read_text(errors="replace")[-TAIL:] if log.exists() else ""
