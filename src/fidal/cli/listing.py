"""`fidal list` and `fidal describe`: what there is, and what a field means."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import asdict, astuple, fields
from typing import Any, Final

from pydantic import BaseModel
from rich.console import Console

from fidal.cli.table import print_table
from fidal.data import BENCHMARKS
from fidal.data.preparing import COLLECTORS
from fidal.encoders import ENCODERS
from fidal.encoders.base import Card
from fidal.gates import DENSITIES, THRESHOLDS
from fidal.parts import Part
from fidal.strategies import STRATEGIES

CARD: Final = tuple(field.name for field in fields(Card))

LISTS: Mapping[str, Mapping[str, type[Part]]] = {
    "strategies": STRATEGIES,
    "benchmarks": BENCHMARKS,
    "preparations": COLLECTORS,
    "encoders": ENCODERS,
    "gates": {
        **{f"density {k}": v for k, v in DENSITIES.items()},
        **{f"threshold {k}": v for k, v in THRESHOLDS.items()},
    },
}


def list_table(console: Console, what: str, as_json: bool) -> None:
    """Name, first sentence and own fields of each part."""
    entries: list[dict[str, Any]] = [
        {"name": name, "what": _sentence(part), "fields": _fields(part)}
        for name, part in LISTS[what].items()
    ]
    if what == "encoders":
        for entry, part in zip(entries, ENCODERS.values(), strict=True):
            entry["models"] = {model: asdict(card) for model, card in part.cards.items()}
    if as_json:
        print(json.dumps(entries, indent=1))
        return
    if what == "encoders":
        print_table(console, ("name", "model", *CARD, "fields"), _cards())
        return
    rows = [(str(e["name"]), str(e["what"]), ", ".join(e["fields"])) for e in entries]
    print_table(console, ("name", "what it is", "fields"), rows)


def _cards() -> Iterator[tuple[str, ...]]:
    """A row for each model of each encoder."""
    for name, part in ENCODERS.items():
        for model, card in part.cards.items():
            yield (name, model or "-", *astuple(card), ", ".join(_fields(part)))


def describe_table(console: Console, experiment: BaseModel) -> None:
    """One line per field: dotted key, value, meaning."""
    print_table(console, ("key", "value", "meaning"), _walk("", experiment))


def _sentence(part: type[Part]) -> str:
    text = " ".join((part.__doc__ or "").split())
    return text.split(". ")[0].rstrip(".")


def _fields(part: type[Part]) -> list[str]:
    return [name for name in part.model_fields if name != "objective"]


def _walk(prefix: str, model: BaseModel) -> Iterator[tuple[str, str, str]]:
    for name, field in type(model).model_fields.items():
        value: Any = getattr(model, name)
        if isinstance(value, Part):
            yield f"{prefix}{name}", value.name, field.description or ""
            yield from _walk(f"{prefix}{name}.", value)
        else:
            shown = "none" if value is None else str(value)
            yield f"{prefix}{name}", shown, field.description or ""
