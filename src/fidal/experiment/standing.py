"""How a run stands, read off its folder without running it; and the rows of its failures."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from pydantic import JsonValue

from fidal.experiment.config import Experiment
from fidal.experiment.folder import RunFolder
from fidal.rows import append, read
from fidal.storage import StateError, load_texts

Status = Literal["new", "cut", "done", "failed"]
Kind = Literal["refused", "bug", "died"]


@dataclass(frozen=True)
class Failure:
    """Why a run ended before its end."""

    kind: Kind
    """What a person can act on; an error of the program; or the death of the process."""
    reason: str
    """One line or a few."""
    detail: str = ""
    """The traceback, or the last that the process printed."""


@dataclass(frozen=True)
class Standing:
    """Where a run is."""

    status: Status
    round: int = 0
    """The AL round that comes next."""
    failure: Failure | None = None
    """Of a failed run."""


def standing(experiment: Experiment, folder: RunFolder) -> Standing:
    """A folder that can't be read, or is another's, raises what says so.

    The rows of all finished rounds must be there; the weights are not looked at.
    """
    if not (folder.path / "config.json").exists():
        return Standing("new")
    folder.check(experiment)
    round, done = _progress(experiment, folder)
    failures = read(folder.failures) if folder.failures.exists() else []
    if done:
        return Standing("done", round)
    if failures and failures[-1]["kind"] != "retried":
        return Standing("failed", round, _failure(failures[-1]))
    return Standing("cut", round)


def record_failure(experiment: Experiment, folder: RunFolder, failure: Failure) -> None:
    """One more row in the folder, which must be the experiment's own and held."""
    row: dict[str, JsonValue] = {
        **_head(experiment),
        "round": _progress(experiment, folder)[0],
        "kind": failure.kind,
        "reason": failure.reason,
        "detail": failure.detail,
    }
    append(folder.failures, row)


def record_retry(experiment: Experiment, folder: RunFolder) -> None:
    """From here on the run counts as cut, not as failed; what happened stays on record."""
    append(folder.failures, {**_head(experiment), "kind": "retried"})


def _head(experiment: Experiment) -> dict[str, JsonValue]:
    return {
        "run": experiment.run_name,
        "strategy": experiment.strategy.name,
        "seed": experiment.seed,
    }


def _failure(row: Mapping[str, JsonValue]) -> Failure:
    kind: Kind = row["kind"]  # type: ignore[assignment]
    return Failure(kind, str(row["reason"]), str(row["detail"]))


def _progress(experiment: Experiment, folder: RunFolder) -> tuple[int, bool]:
    """The next round, and whether there is none."""
    if not folder.state.exists():
        return 0, False
    texts = load_texts(folder.state)
    try:
        round, done = int(texts["round"]), texts["done"] == "True"
    except (KeyError, ValueError) as error:
        raise StateError(f"{folder.state} is no state of a run ({error})") from error
    folder.check_rows(round)
    return round, done
