"""Run folders in, comparable studies out. What can't be used is said, never dropped in silence."""

import json
import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import JsonValue
from safetensors import safe_open

from fidal.report.frame import RunRows, Study, result
from fidal.report.studies import studies_of
from fidal.rows import read
from fidal.storage import StateError, load_state


@dataclass(frozen=True)
class Reading:
    """All that was found, and what a reader must know about it."""

    studies: tuple[Study, ...]
    notices: tuple[str, ...]


def read_folders(folders: Sequence[Path]) -> Reading:
    """In: run folders, or folders that hold some. Out: one study per benchmark and setting."""
    notices: list[str] = []
    runs: list[RunRows] = []
    for folder in _run_folders(folders, notices):
        try:
            runs.append(_read_run(folder))
        except (StateError, ValueError, OSError) as error:
            notices.append(f"Left out: {folder.name}: {error}")
    studies = studies_of(runs, notices)
    if len({study.benchmark for study in studies}) > 1:
        notices.append("The runs are of different benchmarks; each is shown on its own.")
    if not studies:
        where = ", ".join(str(folder) for folder in folders) or "no folder was named"
        notices.append(f"There is no result to show yet ({where}).")
    return Reading(studies, tuple(notices))


def _run_folders(folders: Sequence[Path], notices: list[str]) -> list[Path]:
    found: dict[Path, Path] = {}
    for folder in folders:
        inside = sorted(file.parent for file in folder.rglob("config.json"))
        if not inside:
            what = "is empty or holds no run" if folder.exists() else "does not exist"
            notices.append(f"{folder} {what}: name a folder that `fidal run` or `sweep` wrote.")
        found.update({run.resolve(): run for run in inside})
    return list(found.values())


def _read_run(folder: Path) -> RunRows:
    config = _config(folder / "config.json")
    rows_file, times_file = folder / "rounds.jsonl", folder / "timings.jsonl"
    rows = read(rows_file) if rows_file.exists() else []
    failure = _failure(folder / "failures.jsonl")
    if not rows and failure:
        raise ValueError(f"it failed before its first round was finished: {failure}")
    if not rows:
        raise ValueError("it has not finished its first round yet")
    results = tuple(result(row) for row in rows)
    planned = int(config.get("rounds", 0))
    last = max(found.round for found in results)
    strategy: dict[str, JsonValue] = config["strategy"]
    classes = rows[0]["classes"]
    assert isinstance(classes, list)
    return RunRows(
        folder=folder,
        method=str(strategy["name"]),
        strategy=str(strategy["name"]),
        seed=int(config["seed"]),
        config=config,
        results=results,
        timings=tuple(read(times_file)) if times_file.exists() else (),
        classes=tuple(str(name) for name in classes),
        planned=planned,
        done=last >= planned or _ended_early(folder / "state.safetensors"),
        failure=failure,
        weight_bytes=_weight_bytes(folder / "state.safetensors"),
    )


def _config(file: Path) -> dict[str, Any]:
    try:
        config = json.loads(file.read_text())
        lacking = [key for key in ("benchmark", "strategy", "seed") if key not in config]
    except (ValueError, TypeError) as error:
        raise ValueError(f"config.json is damaged ({error})") from error
    if lacking:
        raise ValueError(f"config.json lacks {', '.join(lacking)}")
    return dict(config)


def _failure(file: Path) -> str:
    """The reason of the last failure; empty if there is none, or the run was begun again since."""
    rows = read(file) if file.exists() else []
    return str(rows[-1].get("reason", "")) if rows and rows[-1].get("kind") != "retried" else ""


def _ended_early(file: Path) -> bool:
    """Did the run end before R because no site had anything left to ask?"""
    return file.exists() and load_state(file)[1].get("done") == "True"


def _weight_bytes(file: Path) -> int:
    """On the wire all tensors are float32; their shapes are in the head of the file."""
    if not file.exists():
        return 0
    with safe_open(file, framework="numpy") as state:
        shapes = [state.get_slice(name).get_shape() for name in state.keys()]  # noqa: SIM118
    return sum(4 * math.prod(shape) for shape in shapes)
