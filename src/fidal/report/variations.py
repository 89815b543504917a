"""Which studies of a benchmark differ in one field only: a budget sweep, an epoch sweep."""

import json
from collections.abc import Sequence
from dataclasses import dataclass

from fidal.report.frame import Study
from fidal.report.labels import Path, field_names, value_at, value_text, varying


@dataclass(frozen=True, eq=False)
class Variation:
    """Studies in the order of the values of the one field in which they differ."""

    field: str
    values: tuple[str, ...]
    studies: tuple[Study, ...]
    fixed: str
    """What the other fields stand at that are varied elsewhere: "training.rounds=20"."""

    @property
    def name(self) -> str:
        """`budget at training.rounds=20`."""
        return f"{self.field} at {self.fixed}" if self.fixed else self.field

    @property
    def titles(self) -> list[str]:
        """One per study: `budget=50`."""
        return [f"{self.field}={value}" for value in self.values]


def variations(studies: Sequence[Study]) -> tuple[Variation, ...]:
    """In: the studies of one benchmark. Out: each line of at least two of them.

    A budget sweep and an epoch sweep that share one cell are two lines, and the cell is in both.
    Studies that never differ in a single field alone are one line, by their names.
    """
    tables = [study.runs[0].setting for study in studies]
    paths = sorted(varying(tables))
    names = field_names(tables[0], paths) if tables else {}
    found = [line for path in paths for line in _lines(studies, path, paths, names)]
    if not found and len(studies) > 1:
        settings = tuple(study.setting for study in studies)
        return (Variation("setting", settings, tuple(studies), ""),)
    return tuple(found)


def usual(studies: Sequence[Study]) -> Study:
    """Of the studies of one benchmark, the one that stands for it: the cell that most variations
    share, then the one with most runs."""
    lines = variations(studies)

    def weight(study: Study) -> tuple[int, int]:
        return sum(study in line.studies for line in lines), len(study.runs)

    return max(studies, key=weight)


def _lines(
    studies: Sequence[Study], path: Path, paths: Sequence[Path], names: dict[Path, str]
) -> list[Variation]:
    groups: dict[str, list[Study]] = {}
    for study in studies:
        rest = {names[p]: value_at(study.runs[0].setting, p) for p in paths if p != path}
        groups.setdefault(json.dumps(rest), []).append(study)
    lines = []
    for rest_text, group in groups.items():
        if len(group) < 2:
            continue
        ordered = sorted(group, key=lambda study: _size(study, path))
        values = [value_text(value_at(study.runs[0].setting, path)) for study in ordered]
        fixed = [f"{name}={value_text(value)}" for name, value in json.loads(rest_text).items()]
        lines.append(Variation(names[path], tuple(values), tuple(ordered), ", ".join(fixed)))
    return lines


def _size(study: Study, path: Path) -> float:
    """Numbers by size; what is none stays where it is."""
    value = value_at(study.runs[0].setting, path)
    return float(value) if isinstance(value, int | float) else 0.0
