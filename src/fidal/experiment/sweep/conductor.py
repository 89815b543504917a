"""All runs of a sweep, from wherever they stand to their end, several at a time."""

from collections import deque
from collections.abc import Generator, Sequence
from contextlib import suppress
from pathlib import Path

from fidal.experiment.config import Experiment
from fidal.experiment.run import REFUSALS
from fidal.experiment.standing import Failure, record_failure, record_retry, standing
from fidal.experiment.sweep.calling import Calling
from fidal.experiment.sweep.crew import Crew
from fidal.experiment.sweep.events import Began, End, Ended, Event, Went
from fidal.experiment.sweep.home import Home
from fidal.experiment.sweep.shares import cores, gpus, share
from fidal.experiment.sweep.worker import BUSY, DONE, Order, Word
from fidal.storage import Busy


def conduct(
    experiments: Sequence[Experiment], home: Home, cache: Path, calling: Calling
) -> Generator[Event, None, None]:
    """Tells what happens. A run that fails is an event, and the others go on.

    Finished runs are not touched, cut ones go on, failed ones begin again with `retry` only. Close
    the iterator to end all processes; what they have not finished goes on in the next call.
    """
    waiting: deque[Experiment] = deque()
    for experiment in experiments:
        ended = _ended_before(experiment, home, calling.retry)
        if ended is None:
            waiting.append(experiment)
        else:
            yield ended
    machine, devices = cores(), gpus()
    crew = Crew(calling.jobs)
    at_work = 0
    try:
        while waiting or at_work:
            while waiting and crew.slot is not None:
                experiment = waiting.popleft()
                environment = share(crew.slot, calling.jobs, machine, devices)
                order = Order(experiment, home.run(experiment), cache, environment)
                start = _prepared(order, calling.retry)
                if isinstance(start, Began):
                    crew.hire(order)
                    at_work += 1
                yield start
            for order, word in crew.words() if at_work else ():
                event = _event(order, word)
                at_work -= isinstance(event, Ended)
                yield event
    finally:
        crew.dismiss()


def _ended_before(experiment: Experiment, home: Home, retry: bool) -> Ended | None:
    try:
        found = standing(experiment, home.run(experiment))
    except REFUSALS as error:
        return Ended(experiment, "failed", 0, before=True, failure=_refused(error))
    if found.status == "failed" and not retry:
        return Ended(experiment, "failed", found.round, before=True, failure=found.failure)
    return Ended(experiment, "done", found.round, before=True) if found.status == "done" else None


def _prepared(order: Order, retry: bool) -> Began | Ended:
    """The folder becomes the run's before its process begins, so that a failure has a place."""
    experiment, folder = order.experiment, order.folder
    try:
        with folder.held():
            folder.claim(experiment)
            found = standing(experiment, folder)
            if found.status == "failed" and retry:
                record_retry(experiment, folder)
            elif found.status in ("failed", "done"):  # in another process, a moment ago
                end: End = "done" if found.status == "done" else "failed"
                return Ended(experiment, end, found.round, before=True, failure=found.failure)
            return Began(experiment, found.round)
    except Busy:
        return Ended(experiment, "elsewhere", 0, before=True)
    except REFUSALS as error:
        return Ended(experiment, "failed", 0, failure=_refused(error))


def _event(order: Order, word: Word) -> Went | Ended:
    experiment, folder = order.experiment, order.folder
    if isinstance(word, tuple):
        return Went(experiment, *word)
    if word == BUSY:
        return Ended(experiment, "elsewhere", 0, before=True)
    failure = word if isinstance(word, Failure) else None
    assert failure is not None or word == DONE
    round = 0
    with suppress(*REFUSALS):  # a folder that can't be written to can't hold the row either
        if failure is not None:
            with folder.held():
                record_failure(experiment, folder, failure)
        round = standing(experiment, folder).round
    return Ended(experiment, "done" if failure is None else "failed", round, failure=failure)


def _refused(error: BaseException) -> Failure:
    return Failure("refused", str(error))
