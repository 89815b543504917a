"""A configuration as a TOML file for people: every field with its description above it."""

import json
from collections.abc import Iterator
from pathlib import Path

from pydantic import BaseModel

from fidal.data.benchmark import Source
from fidal.encoders.base import Encoder
from fidal.parts import Part


def to_toml(model: BaseModel, head: str) -> str:
    """`head` stands above everything, as a comment. What `read_file` reads back is equal."""
    lines = [f"# {line}".rstrip() for line in head.splitlines()]
    return "\n".join([*lines, "", *_table(model, "")]) + "\n"


def _table(model: BaseModel, path: str) -> Iterator[str]:
    """Plain fields first: in TOML what follows a table's head belongs to the table."""
    tables: list[tuple[str, str, Part]] = []
    for name, field in type(model).model_fields.items():
        value = getattr(model, name)
        if field.exclude:
            continue
        if isinstance(value, Part):
            tables.append((name, field.description or "", value))
            continue
        if field.description:
            yield f"# {field.description}"
        yield f"# {name} is not set" if value is None else f"{name} = {_value(value)}"
        yield ""
    for name, description, part in tables:
        yield f"# {description}"
        yield f"[{path}{name}]"
        if isinstance(part, Source | Encoder):  # chosen by name
            yield f"name = {_value(part.name)}"
        yield from _table(part, f"{path}{name}.")


def _value(value: object) -> str:
    if isinstance(value, Path):
        return json.dumps(str(value))
    if isinstance(value, str | bool | int | float):
        return json.dumps(value)
    if isinstance(value, tuple | list):
        return f"[{', '.join(_value(each) for each in value)}]"
    raise TypeError(f"{value!r} can't be written to TOML")
