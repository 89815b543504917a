"""Names for configurations that differ: only the fields in which they differ are named."""

import json
from collections.abc import Iterable, Mapping, Sequence

from pydantic import JsonValue

Table = Mapping[str, JsonValue]
Path = tuple[str, ...]


def label_all(tables: Sequence[Table]) -> list[str]:
    """One text per table, "" if all are equal; every varying field is named for every table.

    >>> label_all([{"budget": 50, "net": {"name": "a"}}, {"budget": 300, "net": {"name": "a"}}])
    ['budget=50', 'budget=300']
    """
    paths = varying(tables)
    return [_text(table, paths, paths) for table in tables]


def label_variants(tables: Sequence[Table], usual: Table) -> list[str]:
    """One text per table: the fields that vary among the tables and are not as `usual`.

    >>> usual = {"gate": {"name": "otsu"}, "lambda": 5}
    >>> label_variants([usual, {"gate": None, "lambda": 5}], usual)
    ['', 'gate=none']
    """
    among = varying([*tables, usual]) & varying(tables)
    texts = []
    for table in tables:
        own = {path for path in among if value_at(table, path) != value_at(usual, path)}
        texts.append(_text(table, own, among))
    return texts


def most_usual(tables: Sequence[Table], default: Table | None) -> Table:
    """The default if it is among the tables, else the one from which the others differ least.

    >>> most_usual([{"a": 0, "b": 0}, {"a": 1, "b": 0}, {"a": 0, "b": 1}], None)
    {'a': 0, 'b': 0}
    """
    if default is not None and default in tables:
        return default
    return min(tables, key=lambda one: sum(len(varying([one, other])) for other in tables))


def varying(tables: Sequence[Table]) -> set[Path]:
    """The shallowest fields whose values are not the same everywhere."""
    found: set[Path] = set()
    for key in dict.fromkeys(key for table in tables for key in table):
        values = [table.get(key) for table in tables]
        if all(value == values[0] for value in values):
            continue
        inner = [value for value in values if isinstance(value, Mapping)]
        same_part = len({json.dumps(value.get("name")) for value in inner}) == 1
        if len(inner) == len(values) and same_part:
            found |= {(key, *path) for path in varying(inner)}
        else:
            found.add((key,))
    return found


def field_names(table: Table, paths: Iterable[Path]) -> dict[Path, str]:
    """The last word of each path; the whole path where another field has the same last word.

    >>> field_names({"rounds": 5, "training": {"rounds": 20}}, [("training", "rounds")])
    {('training', 'rounds'): 'training.rounds'}
    """
    paths = list(paths)
    lasts = [path[-1] for path in paths] + [key for key in table if (key,) not in paths]
    return {p: p[-1] if lasts.count(p[-1]) == 1 else ".".join(p) for p in paths}


def value_at(table: Table, path: Path) -> JsonValue:
    """What stands there; None if nothing does."""
    value: JsonValue = dict(table)
    for word in path:
        value = value.get(word) if isinstance(value, dict) else None
    return value


def value_text(value: JsonValue) -> str:
    """`5`, `on`, `none`; of a part its inner parts or its name."""
    if value is None:
        return "none"
    if isinstance(value, bool):
        return "on" if value else "off"
    if isinstance(value, float):
        return f"{value:g}"
    if isinstance(value, dict):
        inner = [value_text(v) for k, v in value.items() if k != "name" and isinstance(v, dict)]
        return " x ".join(inner) or str(value.get("name", json.dumps(value)))
    return value if isinstance(value, str) else json.dumps(value)


def _text(table: Table, paths: set[Path], among: set[Path]) -> str:
    names = field_names(table, among)
    return ", ".join(f"{names[path]}={value_text(value_at(table, path))}" for path in sorted(paths))
