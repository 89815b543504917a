"""The `[sweep]` table: which dotted keys take which values.

    [sweep]
    strategy = ["fidal", "random"]
    seed = [0, 1, 2]

    [[sweep.together]]
    budget = [50, 150, 300]
    rounds = [6, 4, 2]

Every list is an axis of its own; the lists of one `[[sweep.together]]` have equal lengths and make
one axis: their first values go together, then their second ones, and so on.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from fidal.experiment.config import ConfigError, flat

TOGETHER: Final = "together"


@dataclass(frozen=True)
class Axis:
    """Keys that vary together."""

    keys: tuple[str, ...]
    steps: tuple[tuple[object, ...], ...]
    """The values, one per key, at each step."""


def axes_of(sweep: object) -> list[Axis]:
    """In: the table as read from TOML. Out: its axes in the order written."""
    if not isinstance(sweep, dict):
        raise ConfigError(f"sweep is {sweep!r}; it must be a table of lists, e.g. seed = [0, 1, 2]")
    axes: list[Axis] = []
    for key, values in flat(sweep).items():
        if key == TOGETHER:
            axes.extend(_together(group) for group in _groups(values))
        else:
            axes.append(Axis((key,), tuple((value,) for value in _list(f"sweep.{key}", values))))
    _refuse_twice(key for axis in axes for key in axis.keys)
    return axes


def _groups(values: object) -> list[Mapping[str, Any]]:
    groups: list[Any] = values if isinstance(values, list) else [values]
    wrong = [group for group in groups if not isinstance(group, dict)]
    if wrong:
        raise ConfigError(
            f"sweep.{TOGETHER} holds {wrong[0]!r}; write [[sweep.{TOGETHER}]] and below it one "
            "list per key"
        )
    return [group for group in groups if group]


def _together(group: Mapping[str, Any]) -> Axis:
    lists = {key: _list(f"sweep.{TOGETHER}: {key}", v) for key, v in flat(group).items()}
    lengths = {key: len(values) for key, values in lists.items()}
    if len(set(lengths.values())) > 1:
        each = ", ".join(f"{key} {n}" for key, n in lengths.items())
        raise ConfigError(
            f"sweep.{TOGETHER}: lists that go together have one length; values here: {each}"
        )
    return Axis(tuple(lists), tuple(zip(*lists.values(), strict=True)))


def _list(where: str, values: object) -> list[object]:
    if not isinstance(values, list):
        raise ConfigError(f"{where} is {values!r}; it must be a list of values")
    if not values:
        raise ConfigError(f"{where} is an empty list, which is no run; add a value or leave it out")
    return values


def _refuse_twice(keys: Iterable[str]) -> None:
    seen: set[str] = set()
    for key in keys:
        if key in seen:
            raise ConfigError(f"sweep varies '{key}' twice; keep one of the lists")
        seen.add(key)
