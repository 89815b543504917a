"""Run folders in, comparable studies out. What can't be used is said, never dropped in silence."""

import json
import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from pydantic import JsonValue
from safetensors import safe_open

from fidal.report.frame import RunRows, Study, result
from fidal.report.labels import label_all, label_variants, most_usual
from fidal.report.notices import notices_of, some
from fidal.report.style import label, ordered
from fidal.rows import read
from fidal.storage import StateError, load_state
from fidal.strategies import STRATEGIES


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
    studies = _studies(runs, notices)
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


def _studies(runs: Sequence[RunRows], notices: list[str]) -> tuple[Study, ...]:
    by_setting: dict[str, list[RunRows]] = {}
    for run in runs:
        key = json.dumps([run.setting, list(run.classes)], sort_keys=True)
        by_setting.setdefault(key, []).append(run)
    groups = list(by_setting.values())
    named = zip(_names([group[0] for group in groups]), groups, strict=True)
    studies = []
    for name, group in sorted(named, key=lambda pair: _natural(pair[0])):
        study = _study(name, group, notices)
        notices.extend(f"{study.name}: {text}" for text in notices_of(study))
        studies.append(study)
    return tuple(studies)


def _study(name: str, runs: Sequence[RunRows], notices: list[str]) -> Study:
    named: dict[tuple[str, int], RunRows] = {}
    doubles: list[str] = []
    usual: list[str] = []
    for strategy in ordered({run.strategy for run in runs}):
        own = [run for run in runs if run.strategy == strategy]
        configs = [_strategy(run.config) for run in own]
        known = STRATEGIES.get(strategy)
        default = known().model_dump(mode="json") if known else None
        texts = label_variants(configs, most_usual(configs, default))
        methods = [f"{strategy} ({text})" if text else strategy for text in texts]
        usual.append(min(methods, key=lambda method: (method != strategy, method)))
        for run, method in zip(own, methods, strict=True):
            if (method, run.seed) in named:
                who = f"{label(method)}, seed {run.seed}"
                doubles.append(f"{run.folder} ({who})")
            else:
                named[method, run.seed] = replace(run, method=method)
    if doubles:
        what = "a run is" if len(doubles) == 1 else f"{len(doubles)} runs are"
        notices.append(
            f"{name}: {what} there twice, with one configuration and seed; the one that was named "
            f"first is shown. Left out: {some(doubles)}."
        )
    methods = list(ordered({method for method, _ in named}))
    return Study(name, _benchmark(runs[0]), tuple(named.values()), tuple(methods), tuple(usual))


def _names(first: Sequence[RunRows]) -> list[str]:
    """The benchmark's name, and where it ran in several settings, in what they differ."""
    names = []
    for run in first:
        same = [other for other in first if _benchmark(other) == _benchmark(run)]
        texts = label_all([other.setting for other in same])
        text = texts[same.index(run)]
        names.append(f"{_benchmark(run)} ({text})" if text else _benchmark(run))
    return names


def _natural(name: str) -> list[tuple[float, str]]:
    """A key by which `budget=50` comes before `budget=150`."""
    parts = re.split(r"(\d+(?:\.\d+)?)", name)
    return [(float(p), "") if p[:1].isdigit() else (-1.0, p) for p in parts]


def _strategy(config: Mapping[str, Any]) -> dict[str, JsonValue]:
    return dict(config["strategy"])


def _benchmark(run: RunRows) -> str:
    benchmark: Any = run.config["benchmark"]
    return str(benchmark["name"])
