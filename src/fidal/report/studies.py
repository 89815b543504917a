"""Runs in, studies out: what is comparable stands together, under a name that tells it apart."""

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from pydantic import JsonValue

from fidal.report.frame import RunRows, Study
from fidal.report.labels import label_all, label_variants, most_usual
from fidal.report.notices import notices_of, some
from fidal.report.style import label, ordered
from fidal.strategies import STRATEGIES


def studies_of(runs: Sequence[RunRows], notices: list[str]) -> tuple[Study, ...]:
    """One study per benchmark and setting, by name. What a reader must know is added to `notices`.

    Runs whose warm-up labels whole pools are no study beside others of their benchmark: they are
    its fully supervised model, whatever their budget and rounds.
    """
    by_setting: dict[str, list[RunRows]] = {}
    for run in runs:
        key = json.dumps([run.setting, list(run.classes)], sort_keys=True)
        by_setting.setdefault(key, []).append(run)
    groups = list(by_setting.values())
    ceilings = [group for group in groups if all(run.labels_everything for run in group)]
    open_groups = [group for group in groups if group not in ceilings] or groups
    named = zip(_names([group[0] for group in open_groups]), open_groups, strict=True)
    studies = []
    for name, group in sorted(named, key=lambda pair: _natural(pair[0])):
        study = replace(_study(name, group, notices), supervised=_supervised(group[0], ceilings))
        notices.extend(f"{study.name}: {text}" for text in notices_of(study))
        studies.append(study)
    return tuple(studies)


def _supervised(run: RunRows, ceilings: Sequence[Sequence[RunRows]]) -> Study | None:
    """Of the same data and network; of the same training rather than of another."""
    like = [c for c in ceilings if all(_same(run, c[0], k) for k in ("benchmark", "network"))]
    like.sort(key=lambda ceiling: not _same(run, ceiling[0], "training"))
    if not like or run in like[0]:
        return None
    return _study("Fully supervised", like[0], [])


def _same(one: RunRows, other: RunRows, field: str) -> bool:
    return one.config.get(field) == other.config.get(field)


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
